package mapping

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

const s = batch.Second

func names(cs []Candidate) []string {
	var out []string
	for _, c := range cs {
		out = append(out, c.Site)
	}
	return out
}

func TestTheEarliestCompletionWinsDespiteALongerWait(t *testing.T) {
	var d Decision
	Choose(0, []Answer{
		{Site: "slow", Wait: 1 * s, Run: 100 * s, Width: 4},
		{Site: "fast", Wait: 50 * s, Run: 40 * s, Width: 8, Kind: batch.Promised},
	}, &d)
	want := []Candidate{
		{Site: "fast", Wait: 50 * s, Run: 40 * s, Completion: 90 * s, Width: 8, Kind: batch.Promised, Answer: 1},
		{Site: "slow", Wait: 1 * s, Run: 100 * s, Completion: 101 * s, Margin: 11 * s, Width: 4},
	}
	if diff := cmp.Diff(want, d.Candidates); diff != "" {
		t.Error(diff)
	}
}

func TestTransferAndQueueOverlap(t *testing.T) {
	var d Decision
	Choose(0, []Answer{
		{Site: "far", Transfer: 60 * s, Wait: 20 * s, Run: 10 * s}, // waits for its input
		{Site: "near", Transfer: 5 * s, Wait: 50 * s, Run: 10 * s}, // waits for its turn
	}, &d)
	if diff := cmp.Diff([]string{"near", "far"}, names(d.Candidates)); diff != "" {
		t.Fatal(diff)
	}
	for i, want := range []batch.Duration{60 * s, 70 * s} {
		if got := d.Candidates[i].Completion; got != want {
			t.Errorf("%s: completion %v, want %v", d.Candidates[i].Site, got, want)
		}
	}
}

func TestWaitsShrinkWithTheAgeOfTheirState(t *testing.T) {
	now := batch.Time(100 * s)
	var d Decision
	Choose(now, []Answer{
		{Site: "fresh", At: now, Wait: 25 * s, Run: 10 * s},
		{Site: "old", At: now.Add(-30 * s), Age: 5 * s, Wait: 50 * s, Run: 10 * s},
		{Site: "passed", At: now.Add(-30 * s), Wait: 10 * s, Run: 40 * s},
	}, &d)
	if diff := cmp.Diff([]string{"old", "fresh", "passed"}, names(d.Candidates)); diff != "" {
		t.Fatal(diff)
	}
	if c := d.Candidates[0]; c.Wait != 20*s || c.Age != 35*s {
		t.Errorf("old: wait %v, age %v; want 20s and 35s", c.Wait, c.Age)
	}
	if c := d.Candidates[2]; c.Wait != 0 || c.Completion != 40*s {
		t.Errorf("passed: wait %v, completion %v; want 0s and 40s", c.Wait, c.Completion)
	}
}

func TestEqualCompletionsAreOrderedByName(t *testing.T) {
	var d Decision
	Choose(0, []Answer{{Site: "b", Run: s}, {Site: "c", Wait: s}, {Site: "a", Run: s}}, &d)
	if diff := cmp.Diff([]string{"a", "b", "c"}, names(d.Candidates)); diff != "" {
		t.Error(diff)
	}
}

func TestMissingSitesAreRecordedByNameAndNeverChosen(t *testing.T) {
	var d Decision
	Choose(0, []Answer{
		{Site: "z", Missing: Timeout},
		{Site: "never", Wait: batch.Forever},
		{Site: "cut", Transfer: batch.Forever},
		{Site: "late", Wait: batch.Forever - 1, Run: s},
		{Site: "b", Missing: Unreachable},
	}, &d)
	if diff := cmp.Diff([]string{"late", "b", "cut", "never", "z"}, names(d.Candidates)); diff != "" {
		t.Error(diff)
	}
	if d.Ranked != 1 || d.Candidates[0].Completion != batch.Forever {
		t.Errorf("ranked %d, completion %v", d.Ranked, d.Candidates[0].Completion)
	}
	if d.Candidates[2].Missing != Refused || d.Candidates[3].Missing != Refused {
		t.Error("a site that can never start it has not refused")
	}
	Choose(0, []Answer{{Site: "z", Missing: Timeout}}, &d)
	if c, ok := d.Chosen(); ok {
		t.Errorf("chose %v among none", c)
	}
}

func TestChooseMatchesAPlainSearchInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "sites")
		now := batch.Time(1000 * s)
		dur := rapid.Custom(func(t *rapid.T) batch.Duration {
			return batch.Duration(rapid.IntRange(0, 5).Draw(t, "s")) * s
		})
		answers := make([]Answer, n)
		for i := range answers {
			answers[i] = Answer{
				Site: string(rune('a' + i)), Missing: Missing(rapid.IntRange(0, 3).Draw(t, "missing")) * Missing(
					rapid.IntRange(0, 1).Draw(t, "is"),
				),
				At: now.Add(-dur.Draw(t, "age")), Wait: dur.Draw(t, "wait"), Run: dur.Draw(t, "run"),
				Transfer: dur.Draw(t, "transfer"),
			}
		}
		best, end := "", batch.Forever
		for _, a := range answers { // in the order of the names
			start := max(a.At.Add(a.Wait), now.Add(a.Transfer))
			if e := start.Add(a.Run).Sub(now); a.Missing == Answered && e < end {
				best, end = a.Site, e
			}
		}
		var d Decision
		Choose(now, rapid.Permutation(answers).Draw(t, "order"), &d)
		c, ok := d.Chosen()
		if ok != (best != "") || c.Site != best || ok && c.Completion != end {
			t.Fatalf("chose %s at %v, want %s at %v", c.Site, c.Completion, best, end)
		}
		for i := 1; i < d.Ranked; i++ {
			if m := d.Candidates[i].Margin; m < d.Candidates[i-1].Margin || m != d.Candidates[i].Completion-end {
				t.Fatalf("margin %v of %s", m, d.Candidates[i].Site)
			}
		}
	})
}

func TestTransfer(t *testing.T) {
	l := Links{
		Default: Link{Bandwidth: 1000, Latency: s / 2},
		Pairs:   map[Pair]Link{{"lyon", "nancy"}: {Latency: s}, {"", "far"}: {Bandwidth: 1}},
	}
	for _, c := range []struct {
		from, to string
		bytes    int64
		want     batch.Duration
	}{
		{"", "lyon", 2000, 2*s + s/2},
		{"", "lyon", 0, 0},
		{"", "lyon", 1, s/2 + batch.Millisecond},
		{"lyon", "lyon", 1 << 40, 0},
		{"lyon", "nancy", 1 << 40, s},
		{"nancy", "lyon", 1000, s + s/2},
		{"", "far", math.MaxInt64, batch.Forever},
		{"", "far", 1e13, batch.Forever},
	} {
		if got := l.Transfer(c.from, c.to, c.bytes); got != c.want {
			t.Errorf("%q to %q, %d bytes: %v, want %v", c.from, c.to, c.bytes, got, c.want)
		}
	}
	if got := (Link{Bandwidth: 3e6}).Transfer(1); got != 1 {
		t.Errorf("a third of a microsecond became %d", got)
	}
}

func TestViewReturnsTheCandidatesOfAService(t *testing.T) {
	var v View
	v.Put(Site{Name: "nancy", Services: []string{"lu", "sleep"}})
	v.Put(Site{Name: "lyon", Services: []string{"sleep", "lu"}})
	v.Put(Site{Name: "metz", Services: []string{"sleep"}})
	offers := func(service string) []string {
		var out []string
		for _, s := range v.Candidates(nil, service) {
			out = append(out, s.Name)
		}
		return out
	}
	if got := offers("lu"); !slices.Equal(got, []string{"lyon", "nancy"}) {
		t.Errorf("lu: %v", got)
	}
	before := v.Get("lyon")
	v.SetLost("lyon", true)
	v.SetLoad(7, "nancy", Load{Waiting: 3})
	v.Put(Site{Name: "metz", Services: []string{"lu"}})
	if got := offers("lu"); !slices.Equal(got, []string{"metz", "nancy"}) {
		t.Errorf("lu after lyon was lost: %v", got)
	}
	if before.Lost {
		t.Error("a site that was handed out changed")
	}
	if n := v.Get("nancy"); n.Heard != 7 || n.Load.Waiting != 3 {
		t.Errorf("nancy: %+v", n)
	}
	v.Remove("lyon")
	v.Remove("lyon")
	v.SetLost("lyon", false)
	if v.Get("lyon") != nil || len(v.Sites(nil)) != 2 {
		t.Error("lyon is still there")
	}
}

func TestMappingDoesNotAllocateInTheSteadyState(t *testing.T) {
	var v View
	for _, n := range []string{"a", "b", "c", "d"} {
		v.Put(Site{Name: n, Services: []string{"lu"}})
	}
	var sites []*Site
	var answers []Answer
	var d Decision
	one := func() {
		sites = v.Candidates(sites[:0], "lu")
		answers = answers[:0]
		for i, c := range sites {
			answers = append(answers, Answer{Site: c.Name, Run: batch.Duration(len(sites)-i) * s})
		}
		Choose(0, answers, &d)
	}
	one()
	if n := testing.AllocsPerRun(100, one); n != 0 {
		t.Errorf("%v allocations for each request", n)
	}
	if c, _ := d.Chosen(); c.Site != "d" {
		t.Errorf("chose %s", c.Site)
	}
}

func BenchmarkChoose(b *testing.B) {
	answers := make([]Answer, 16)
	for i := range answers {
		answers[i] = Answer{Site: string(rune('a' + i)), Wait: batch.Duration(i*7%16) * s, Run: s}
	}
	var d Decision
	b.ReportAllocs()
	for b.Loop() {
		Choose(0, answers, &d)
	}
}
