package site

import (
	"math/bits"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// rectangles is a planner over a machine that is busy in steps of one second: busy[t] processors
// in second t, none after the last. It finds the earliest fit by trying every second.
type rectangles struct {
	processors int32
	busy       []int32
	asked      []int32 // the requested widths, in order
	calls      int
	silent     bool
}

func (p *rectangles) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	if p.silent {
		return false
	}
	p.calls++
	for i, a := range asks {
		out[i].Kind = batch.Promised
		starts := out[i].Grow(len(a.Shapes))
		for k, s := range a.Shapes {
			p.asked = append(p.asked, s.Width)
			starts[k] = p.fit(max(now, a.From), s)
		}
	}
	return true
}

func (p *rectangles) fit(from batch.Time, s batch.Shape) batch.Time {
	if s.Width > p.processors {
		return batch.Never
	}
	second := batch.Time(batch.Second)
	for at := (from + second - 1) / second; ; at++ {
		if p.free(at, s) {
			return at * second
		}
	}
}

func (p *rectangles) free(at batch.Time, s batch.Shape) bool {
	for t := at; t < min(at+batch.Time(s.Walltime/batch.Second), batch.Time(len(p.busy))); t++ {
		if p.processors-p.busy[t] < s.Width {
			return false
		}
	}
	return true
}

// figure2 is the load of the paper's Figure 2, rebuilt from its completion
// times: 5 processors, of which these are busy.
//
//	5 |                  .-----------
//	4 |     ##########   :
//	3 |     ###################
//	2 |     ##############################
//	1 |########################################
//	  0    105       180       300       360 s
func figure2() *rectangles {
	p := &rectangles{processors: 5}
	for _, r := range []struct {
		until int
		busy  int32
	}{{105, 1}, {180, 4}, {300, 3}, {360, 2}} {
		for len(p.busy) < r.until {
			p.busy = append(p.busy, r.busy)
		}
	}
	return p
}

// sevenMinutes is the service of Figure 2: 7 minutes on one processor, perfect
// speedup.
const sevenMinutes = `
version: 1
services:
  - name: seven
    doc: Takes seven minutes on one processor.
    command: [seven]
    walltime: {factor: 1}
    model: {amdahl: {work: 7m, parallel: 1}}
`

func newSite(t testing.TB, services string, processors int32, tuning Tuning) *Site {
	t.Helper()
	c := Config{Platform: batch.Processors(processors), Tuning: tuning}
	if services != "" {
		var err error
		if c.Catalogue, err = catalogue.Load(strings.NewReader(services), "test.yaml"); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func seconds(n int64) batch.Duration { return batch.Duration(n) * batch.Second }

func TestFigure2OfThePaper(t *testing.T) {
	// Completion times of each width: 7, 6.5, 7.33, 1.75 and 7.4 minutes.
	for width, want := range map[int32]int64{1: 420, 2: 390, 3: 440, 4: 105, 5: 444} {
		q, err := newSite(t, sevenMinutes, 5, Exhaustive).Quote(0,
			Question{Request: &Request{Service: "seven", Width: width}}, figure2())
		if err != nil || q.Completion != seconds(want) {
			t.Errorf("width %d: completion %v %v, want %d s", width, q.Completion, err, want)
		}
	}
	tests := []struct {
		tuning Tuning
		want   Quote
		asked  []int32
		calls  int
	}{
		{Exhaustive, Quote{
			Shape: batch.Shape{Width: 4, Walltime: seconds(105)}, Run: seconds(105), Completion: seconds(105),
			Kind: batch.Promised,
		}, []int32{1, 2, 3, 4, 5}, 1},
		{Binary, Quote{
			Shape: batch.Shape{Width: 2, Walltime: seconds(210)}, Wait: seconds(180), Run: seconds(210),
			Completion: seconds(390), Kind: batch.Promised,
		}, []int32{1, 5, 3, 2}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.tuning.String(), func(t *testing.T) {
			p := figure2()
			got, err := newSite(t, sevenMinutes, 5, tt.tuning).Quote(0, Question{Request: &Request{Service: "seven"}},
				p)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.asked, p.asked); diff != "" || p.calls != tt.calls {
				t.Errorf("%d calls, asked for %s", p.calls, diff)
			}
		})
	}
}

// starts is a planner with a fixed start for each width.
type starts map[int32]batch.Time

func (p starts) Estimate(_ batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	for i, a := range asks {
		for k, s := range a.Shapes {
			out[i].Grow(len(a.Shapes))[k] = p[s.Width]
		}
	}
	return true
}

func TestTuningBreaksTiesTowardsTheSmallerWidth(t *testing.T) {
	// Walltime 1 µs each: a completion is the start plus one.
	tests := []struct {
		name             string
		starts           []batch.Time // of widths 1, 2, …
		exhaust, binary  int32        // width chosen, 0 for none
		askedAfterBothDo string
	}{
		{"one shape", []batch.Time{5}, 1, 1, ""},
		{"two shapes", []batch.Time{5, 4}, 2, 2, ""},
		{"all alike", []batch.Time{5, 5, 5, 5, 5}, 1, 1, ""},
		{"a tie in the middle", []batch.Time{9, 3, 3, 3, 9}, 2, 2, ""},
		{"ends alike: the lower half", []batch.Time{9, 1, 8, 0, 9}, 4, 2, ""},
		{"better upper end", []batch.Time{9, 1, 8, 2, 7}, 2, 4, ""},
		{"the best tested is an end", []batch.Time{1, 9, 9, 9, 2}, 1, 1, ""},
		{"only one can start", []batch.Time{batch.Never, batch.Never, 4}, 3, 3, ""},
		{"none can start", []batch.Time{batch.Never, batch.Never, batch.Never}, 0, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			menu := make([]batch.Shape, len(tt.starts))
			p := starts{}
			for i, s := range tt.starts {
				menu[i] = batch.Shape{Width: int32(i + 1), Walltime: 1}
				p[menu[i].Width] = s
			}
			for tuning, want := range map[Tuning]int32{Exhaustive: tt.exhaust, Binary: tt.binary} {
				tuner := tuner{method: tuning}
				c, ok := tuner.tune(0, batch.Ask{Job: &batch.Job{}, Shapes: menu}, p)
				if !ok || c.index+1 != int(want) {
					t.Errorf("%v: chose width %d, want %d", tuning, c.index+1, want)
				}
			}
		})
	}
}

func TestExhaustiveTuningMatchesBruteForceAndIsNeverWorseThanBinary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int32Range(1, 12).Draw(t, "processors")
		p := &rectangles{processors: n, busy: rapid.SliceOfN(rapid.Int32Range(0, n), 0, 40).Draw(t, "busy")}
		now := batch.Time(rapid.IntRange(0, 10).Draw(t, "now")) * batch.Time(batch.Second)
		from := batch.Time(rapid.IntRange(0, 20).Draw(t, "from")) * batch.Time(batch.Second)
		var menu []batch.Shape
		for w := int32(1); w <= n; w++ {
			if rapid.Bool().Draw(t, "offered") || w == n {
				menu = append(menu,
					batch.Shape{Width: w, Walltime: seconds(rapid.Int64Range(1, 20).Draw(t, "walltime"))})
			}
		}
		var want batch.Shape
		earliest := batch.Never
		for i := len(menu) - 1; i >= 0; i-- {
			if end := p.fit(max(now, from), menu[i]).Add(menu[i].Walltime); end <= earliest {
				want, earliest = menu[i], end
			}
		}
		ask := batch.Ask{Job: &batch.Job{}, Shapes: menu, From: from}
		exhaustive := &tuner{}
		c, _ := exhaustive.tune(now, ask, p)
		if menu[c.index] != want || c.start.Add(menu[c.index].Walltime) != earliest {
			t.Fatalf("exhaustive chose %v at %d, want %v by %d", menu[c.index], c.start, want, earliest)
		}
		p.calls = 0
		b, _ := (&tuner{method: Binary}).tune(now, ask, p)
		if b.start.Add(menu[b.index].Walltime) < earliest || b.start != p.fit(max(now, from), menu[b.index]) {
			t.Fatalf("binary chose %v at %d", menu[b.index], b.start)
		}
		if most := 2 + bits.Len(uint(len(menu))); p.calls > most {
			t.Fatalf("binary made %d calls for %d shapes", p.calls, len(menu))
		}
	})
}

func TestTuningsHaveNames(t *testing.T) {
	for _, tuning := range []Tuning{Exhaustive, Binary} {
		if got, err := ParseTuning(tuning.String()); err != nil || got != tuning {
			t.Errorf("%v: got %v %v", tuning, got, err)
		}
	}
	if got, err := ParseTuning(""); err != nil || got != Exhaustive {
		t.Errorf("default: got %v %v", got, err)
	}
	if _, err := ParseTuning("ternary"); err == nil {
		t.Error("the unknown tuning ternary is accepted")
	}
}
