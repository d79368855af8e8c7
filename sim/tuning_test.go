package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/sim"
)

// ready prepares a scenario as grid reads one.
func ready(t *testing.T, scenario string, traces map[string]string) (*sim.Prepared, sim.Variant) {
	t.Helper()
	contents := map[string]string{"scenario.yaml": "version: 1\n" + scenario}
	for name, text := range traces {
		contents[name] = text
	}
	path := files(t, contents) + "/scenario.yaml"
	s, err := sim.ReadScenario(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Prepare(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return p, s.Variant()
}

// ticking is a clock on which a second passes between two looks.
func ticking() func() time.Duration {
	n := time.Duration(0)
	return func() time.Duration {
		n += time.Second
		return n
	}
}

// One processor of four is taken for 1000 s. A job of 400 s on one would be done
// after 134 s with the other three, and after 1100 s with all four. Binary search,
// which finds one processor better than four, does not come to three.
func TestTuningsAreComparedForEachSubmission(t *testing.T) {
	p, v := ready(t, `
mapping: mct
moldable: {types: [{parallel: "1", limit: 4, share: "1"}]}
sites: [{name: s, trace: t.swf, procs: 4, policy: cbf}]
`, map[string]string{"t.swf": rigid(1, 0, 1000, 1, 1000) + rigid(2, 0, 200, 2, 200)})
	got, cost, err := p.CompareTunings(context.Background(), v, ticking(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := func(f float64) sim.Spread { return sim.Spread{Mean: f, Median: f, P95: f, Max: f} }
	want := &sim.TuningReport{
		Schema: sim.TuningSchema, Jobs: 2, Moldable: 1, Worse: 1, WorseShare: 1, Later: all(66), Ratio: all(200. / 134),
		Exhaustive: sim.TuningFigures{Questions: 2, Estimates: 5, ResponseMean: 567, BoundedSlowdownMean: 1},
		Binary:     sim.TuningFigures{Questions: 4, Estimates: 4, ResponseMean: 600, BoundedSlowdownMean: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want := (sim.TuningCost{Exhaustive: 2 * time.Second, Binary: 2 * time.Second}); cost != want {
		t.Errorf("cost %v, want %v", cost, want)
	}
}

func TestComparingTuningsChangesNothing(t *testing.T) {
	p, v := ready(t, `
mapping: mct
moldable: {}
reallocation: {period: 100s}
sites:
- {name: a, trace: a.swf, procs: 16, policy: cbf}
- {name: b, trace: b.swf, procs: 24, speed: 1.2, policy: easy}
- {name: c, trace: c.swf, procs: 32, speed: 1.4, policy: fcfs}
`, map[string]string{"a.swf": randomTrace(1, 200, 16), "b.swf": randomTrace(2, 200, 24), "c.swf": randomTrace(3, 200, 32)})
	got, _, err := p.CompareTunings(context.Background(), v, ticking(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(context.Background(), v, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &r.Summary.Figures
	if got.Exhaustive.ResponseMean != f.ResponseMean || got.Exhaustive.WaitMean != f.WaitMean ||
		got.Exhaustive.BoundedSlowdownMean != f.BoundedSlowdownMean {
		t.Errorf("compared: %+v, alone: %+v", got.Exhaustive, f)
	}
	if got.Jobs != f.Jobs || got.Moldable == 0 || got.Worse == 0 || got.Worse > got.Moldable || got.Later.Mean <= 0 ||
		got.Ratio.Mean <= 1 {
		t.Errorf("report %+v", got)
	}
	again, _, err := p.CompareTunings(context.Background(), v, ticking(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Error("the second time: ", diff)
	}
}

func TestTuningsAreNotComparedWithoutTuning(t *testing.T) {
	p, v := ready(t, "sites: [{name: s, trace: t.swf, procs: 4, policy: cbf}]\n",
		map[string]string{"t.swf": rigid(1, 0, 10, 1, 10)})
	if _, _, err := p.CompareTunings(context.Background(), v, ticking(), nil); err == nil {
		t.Error("no error")
	}
	p, v = ready(t, "mapping: mct\nsites: [{name: s, trace: t.swf, procs: 4, policy: cbf}]\n",
		map[string]string{"t.swf": rigid(1, 0, 10, 2, 10)})
	got, _, err := p.CompareTunings(context.Background(), v, ticking(), nil)
	if err != nil || got.Jobs != 1 || got.Moldable != 0 || got.Later != (sim.Spread{}) {
		t.Errorf("a rigid job: %+v %v", got, err)
	}
}
