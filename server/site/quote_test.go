package site

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

const services = `
version: 1
services:
  - name: work
    doc: Works.
    args:
      - {name: n, type: int, min: 0, max: 1000}
      - {name: data, type: string, default: none}
    command: [work, "{n}"]
    memory: 1MiB
    walltime: {factor: 1}
    model: {amdahl: {work: 10 * n, parallel: 1}}
  - name: rigid
    doc: Runs on eight.
    command: [rigid]
    walltime: {factor: 1}
    model: {fixed: {width: 8, time: 60s}}
`

func menu(shapes ...int64) []batch.Shape {
	var m []batch.Shape
	for i := 0; i < len(shapes); i += 2 {
		m = append(m, batch.Shape{Width: int32(shapes[i]), Walltime: seconds(shapes[i+1])})
	}
	return m
}

func TestQuoteRefuses(t *testing.T) {
	small := batch.Platform{Nodes: []batch.Node{
		{Name: "a", Processors: 2, Memory: 2 << 20}, {Name: "b", Processors: 2, Memory: 4 << 20},
	}}
	c, err := New(Config{Platform: small, Catalogue: newSite(t, services, 1, 0).config.Catalogue})
	if err != nil {
		t.Fatal(err)
	}
	bare := newSite(t, "", 4, Exhaustive)
	n := map[string]catalogue.Value{"n": catalogue.Int(6)}
	tests := []struct {
		name   string
		s      *Site
		r      Request
		reason problem.Reason
		field  string
	}{
		{"an unknown service", c, Request{Service: "play"}, problem.UnknownService, "request.service"},
		{
			"an unknown argument", c,
			Request{Service: "rigid", Arguments: n},
			problem.UnknownArgument,
			"request.arguments.n",
		},
		{"a missing argument", c, Request{Service: "work"}, problem.MissingArgument, "request.arguments.n"},
		{
			"an argument of the wrong type", c,
			Request{Service: "work", Arguments: map[string]catalogue.Value{"n": catalogue.Bool(true)}},
			problem.WrongType, "request.arguments.n",
		},
		{
			"an argument without work", c,
			Request{Service: "work", Arguments: map[string]catalogue.Value{"n": catalogue.Int(0)}},
			problem.OutOfRange,
			"request.arguments",
		},
		{
			"a width over the site's", c,
			Request{Service: "work", Arguments: n, Width: 5},
			problem.TooWide,
			"request.width",
		},
		{"a rigid service wider than the site", c, Request{Service: "rigid"}, problem.TooWide, "request.width"},
		{"a menu wider than the site", bare, Request{Menu: menu(5, 1)}, problem.TooWide, "request.width"},
		{"no menu without a catalogue", bare, Request{}, problem.BadValue, "request.shapes"},
		{
			"a walltime too short for the model", c,
			Request{Service: "work", Arguments: n, Walltime: seconds(14)},
			problem.OutOfRange, "request.walltime",
		},
		{
			"an absurd walltime", c,
			Request{Service: "work", Arguments: n, Walltime: batch.Forever},
			problem.TooLong,
			"request.walltime",
		},
		{
			"memory beyond every node", c,
			Request{Service: "work", Arguments: n, Memory: 4<<20 + 1},
			problem.NoMemory,
			"request.memory_bytes",
		},
		{
			"memory beyond the site", c,
			Request{Service: "work", Arguments: n, Memory: 3 << 20, Width: 2},
			problem.NoMemory, "request.memory_bytes",
		},
		{"a deadline that cannot be kept", c, Request{
			Service: "work", Arguments: n, Deadline: batch.Time(seconds(114)),
		}, problem.TooLate, "request.deadline"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &rectangles{processors: 4}
			now := batch.Time(seconds(100))
			_, err := tt.s.Quote(now, Question{Request: &tt.r}, p)
			var refused *problem.Problem
			if !errors.As(err, &refused) {
				t.Fatalf("got %v", err)
			}
			if refused.Reason != tt.reason || refused.Field != tt.field || refused.Accepted == "" ||
				refused.Error() == "" {
				t.Errorf("got %+v", refused)
			}
			// In a batch of questions the refusals are the same, and a valid question gets its
			// answer.
			ok := Question{Request: &Request{Service: "work", Arguments: n, Menu: menu(1, 5)}}
			out := make([]Answer, 3)
			tt.s.Quotes(now, []Question{{Request: &tt.r}, ok, {Request: &tt.r}}, out, p)
			for _, i := range []int{0, 2} {
				if out[i].Err == nil || out[i].Err.Error() != err.Error() {
					t.Errorf("Quotes[%d]: %v", i, out[i].Err)
				}
			}
			if out[1].Err != nil || out[1].Quote.Completion != seconds(5) {
				t.Errorf("Quotes[1]: %+v", out[1])
			}
			if got := tt.s.Load(); got.Waiting != 0 {
				t.Errorf("a quote left something behind: %+v", got)
			}
		})
	}
}

func TestQuoteChargesForMemory(t *testing.T) {
	p := batch.Platform{Nodes: []batch.Node{{Processors: 4, Memory: 8 << 20}}}
	s, err := New(Config{Platform: p})
	if err != nil {
		t.Fatal(err)
	}
	// 2 MiB for each processor: tasks of 4 MiB take two, so two fit.
	planner := &rectangles{processors: 4}
	if _, err := s.Quote(0, Question{Request: &Request{Memory: 4 << 20, Menu: menu(1, 9, 2, 8, 3, 7, 4, 6)}},
		planner); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int32{1, 2}, planner.asked); diff != "" {
		t.Errorf("offered: %s", diff)
	}
	// MaxWidth limits the width of a job, not the processors that its memory takes.
	two := batch.Platform{Nodes: []batch.Node{{Processors: 4, Memory: 8 << 20}, {Processors: 4, Memory: 8 << 20}}}
	if s, err = New(Config{Platform: two, MaxWidth: 2}); err != nil {
		t.Fatal(err)
	}
	planner = &rectangles{processors: 8}
	if _, err := s.Quote(0, Question{Request: &Request{Memory: 8 << 20, Menu: menu(1, 9, 2, 8, 3, 7)}},
		planner); err != nil || len(planner.asked) != 2 {
		t.Errorf("offered %v, %v", planner.asked, err)
	}
	// Both nodes together have enough memory, but a task must fit on one node.
	var refused *problem.Problem
	if _, err := s.Quote(0, Question{Request: &Request{Memory: 8<<20 + 1, Menu: menu(1, 9)}}, planner); !errors.As(err,
		&refused) || refused.Reason != problem.NoMemory {
		t.Errorf("a task larger than a node: %v", err)
	}
}

func TestMenuIsScaledBySpeedAndOwnWalltimeIsNot(t *testing.T) {
	s := newSite(t, services, 4, Exhaustive)
	s.config.Speed = 3 * catalogue.Reference
	n := map[string]catalogue.Value{"n": catalogue.Int(4)}
	for _, tt := range []struct {
		r    Request
		want string
	}{
		{Request{Service: "work", Arguments: n, Menu: menu(2, 100)}, "2x34s"},
		{Request{Service: "work", Arguments: n, Width: 1}, "1x14s"},
		{Request{Service: "work", Arguments: n, Width: 1, Walltime: seconds(100)}, "1x1m40s"},
	} {
		q, err := s.Quote(0, Question{Request: &tt.r}, &rectangles{processors: 4})
		if err != nil || q.Shape.String() != tt.want {
			t.Errorf("got %v %v, want %s", q.Shape, err, tt.want)
		}
	}
	s.config.Speed = catalogue.Reference
	odd := []batch.Shape{{Width: 1, Walltime: 1_234_567}}
	if q, err := s.Quote(0, Question{Request: &Request{Service: "work", Arguments: n, Menu: odd}},
		&rectangles{processors: 4}); err != nil || q.Shape != odd[0] {
		t.Errorf("at speed 1 a menu must not change: got %v %v", q.Shape, err)
	}
}

func TestQuoteStartsAfterTheInputHasArrived(t *testing.T) {
	s := newSite(t, "", 4, Exhaustive)
	p := &rectangles{processors: 4}
	now := batch.Time(seconds(50))
	for _, tt := range []struct {
		from, earliest int64
		wait           int64
	}{{0, 0, 0}, {40, 45, 0}, {57, 0, 7}, {0, 58, 8}, {60, 58, 10}} {
		r := Request{Menu: menu(1, 5), EarliestStart: batch.Time(seconds(tt.earliest))}
		q, err := s.Quote(now, Question{Request: &r, From: batch.Time(seconds(tt.from))}, p)
		if err != nil || q.Wait != seconds(tt.wait) || q.Completion != seconds(tt.wait+5) {
			t.Errorf("from %d, earliest %d: got %+v %v", tt.from, tt.earliest, q, err)
		}
	}
}

func TestQuoteWithoutAPlannerThatPlans(t *testing.T) {
	for _, tuning := range []Tuning{Exhaustive, Binary} {
		s := newSite(t, "", 4, tuning)
		q := Question{Request: &Request{Menu: menu(1, 5, 2, 4, 3, 3)}}
		p := &rectangles{processors: 4, silent: true}
		if _, err := s.Quote(0, q, p); !errors.Is(err, ErrNoPlan) {
			t.Errorf("%v: got %v", tuning, err)
		}
		out := make([]Answer, 1)
		if s.Quotes(0, []Question{q}, out, p); !errors.Is(out[0].Err, ErrNoPlan) {
			t.Errorf("%v: got %v", tuning, out[0].Err)
		}
	}
}

func TestAJobThatCanNeverStartIsRefused(t *testing.T) {
	s := newSite(t, "", 4, Exhaustive)
	_, err := s.Quote(0, Question{Request: &Request{Menu: menu(4, 5)}}, &rectangles{processors: 3})
	var refused *problem.Problem
	if !errors.As(err, &refused) || refused.Reason != problem.CannotRun {
		t.Errorf("got %v", err)
	}
}

func TestQuotesAreTheQuotesOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := New(Config{
			Platform: batch.Processors(8), Tuning: rapid.SampledFrom([]Tuning{Exhaustive, Binary}).Draw(t, "tuning"),
		})
		if err != nil {
			t.Fatal(err)
		}
		p := &rectangles{processors: 8, busy: rapid.SliceOfN(rapid.Int32Range(0, 8), 0, 30).Draw(t, "busy")}
		for range 2 { // the second pass reuses buffers
			qs := make([]Question, rapid.IntRange(0, 6).Draw(t, "questions"))
			for i := range qs {
				r := &Request{}
				for w := rapid.Int64Range(1, 10).Draw(t, "first"); w <= 10; w += 2 {
					r.Menu = append(r.Menu, menu(w, rapid.Int64Range(1, 30).Draw(t, "walltime"))...)
				}
				qs[i] = Question{Request: r, From: batch.Time(seconds(rapid.Int64Range(0, 9).Draw(t, "from")))}
			}
			out := make([]Answer, len(qs))
			s.Quotes(0, qs, out, p)
			for i := range qs {
				want, err := s.Quote(0, qs[i], p)
				if diff := cmp.Diff(want, out[i].Quote); diff != "" || fmt.Sprint(err) != fmt.Sprint(out[i].Err) {
					t.Fatalf("question %d: %v, %v, %s", i, err, out[i].Err, diff)
				}
			}
		}
	})
}

func TestManyQuotesAskThePlannerOnce(t *testing.T) {
	s := newSite(t, "", 4, Exhaustive)
	p := &rectangles{processors: 4}
	q := Question{Request: &Request{Menu: menu(1, 5, 2, 3)}}
	out := make([]Answer, 3)
	if s.Quotes(0, []Question{q, q, q}, out, p); p.calls != 1 {
		t.Errorf("%d calls", p.calls)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, c := range map[string]Config{
		"no nodes":      {},
		"speed":         {Platform: batch.Processors(1), Speed: -1},
		"tuning":        {Platform: batch.Processors(1), Tuning: 7},
		"wide":          {Platform: batch.Processors(1), MaxWidth: 2},
		"negative wide": {Platform: batch.Processors(1), MaxWidth: -2},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	s, err := New(Config{Platform: batch.Processors(8), MaxWidth: 3})
	if err != nil {
		t.Fatal(err)
	}
	p := &rectangles{processors: 8}
	if _, err := s.Quote(0, Question{Request: &Request{Menu: menu(1, 5, 3, 4, 4, 1)}}, p); err != nil ||
		len(p.asked) != 2 {
		t.Errorf("width limit: asked %v, %v", p.asked, err)
	}
}

// instant is a planner without cost: all jobs start now.
type instant struct{}

func (instant) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	for i := range asks {
		starts := out[i].Grow(len(asks[i].Shapes))
		for k := range starts {
			starts[k] = now
		}
	}
	return true
}

func moldable(n int) []batch.Shape {
	m := make([]batch.Shape, n)
	for i := range m {
		m[i] = batch.Shape{Width: int32(i + 1), Walltime: seconds(int64(10_000 / (i + 1)))}
	}
	return m
}

func TestQuotingAMenuAllocatesNothing(t *testing.T) {
	s := newSite(t, "", 1000, Exhaustive)
	s.config.Speed = 2 * catalogue.Reference
	qs := []Question{{Request: &Request{Menu: moldable(640)}}, {Request: &Request{Menu: moldable(1)}}}
	out := make([]Answer, 2)
	for name, f := range map[string]func(){
		"Quote": func() {
			if _, err := s.Quote(0, qs[0], instant{}); err != nil {
				t.Fatal(err)
			}
		},
		"Quotes": func() { s.Quotes(0, qs, out, instant{}) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkQuoteOfAMenu(b *testing.B) {
	for _, n := range []int{1, 640} {
		b.Run(fmt.Sprintf("shapes=%d", n), func(b *testing.B) {
			s := newSite(b, "", 1000, Exhaustive)
			q := Question{Request: &Request{Menu: moldable(n)}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Quote(0, q, instant{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkQuoteOfAService(b *testing.B) {
	s := newSite(b, services, 640, Exhaustive)
	q := Question{Request: &Request{Service: "work", Arguments: map[string]catalogue.Value{"n": catalogue.Int(9)}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Quote(0, q, instant{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNoJobIsLongerThanItsSiteAllows(t *testing.T) {
	s, err := New(Config{Platform: batch.Processors(8), MaxWalltime: batch.Minute})
	if err != nil {
		t.Fatal(err)
	}
	minutes := func(width int32, n float64) batch.Shape {
		return batch.Shape{Width: width, Walltime: batch.Duration(n * float64(batch.Minute))}
	}
	for name, c := range map[string]struct {
		menu []batch.Shape
		want string
	}{
		"the narrow ones are too long": {
			[]batch.Shape{minutes(1, 4), minutes(2, 2), minutes(4, 1), minutes(8, 0.5)}, "8×30s",
		},
		"the only one just fits": {[]batch.Shape{minutes(2, 1)}, "2×1m0s"},
		"all of them are too long": {
			[]batch.Shape{minutes(1, 4), minutes(2, 2)}, "too-long request.walltime 1s..1m0s at this site",
		},
		"the middle one is too long": {[]batch.Shape{minutes(1, 1), minutes(2, 2), minutes(4, 0.2)}, "4×12s"},
		"wider than the site, too long": {
			[]batch.Shape{minutes(1, 4), minutes(9, 1)}, "too-long request.walltime 1s..1m0s at this site",
		},
	} {
		q, err := s.Quote(0, Question{Request: &Request{Service: "trace", Menu: c.menu}}, &rectangles{processors: 8})
		got := fmt.Sprintf("%d×%v", q.Shape.Width, q.Shape.Walltime)
		if r, _ := errors.AsType[*problem.Problem](err); r != nil {
			got = string(r.Reason) + " " + r.Field + " " + r.Accepted
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for _, d := range []batch.Duration{-1, 1, batch.Forever} {
		if _, err := New(Config{Platform: batch.Processors(8), MaxWalltime: d}); err == nil {
			t.Errorf("a limit of %v", d)
		}
	}
}
