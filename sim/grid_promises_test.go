package sim

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
)

// promising is a policy that says when each job starts as soon as it is
// submitted, and is held to it until the job is taken away.
type promising struct {
	batch.Policy
	t       *rapid.T
	starts  map[batch.Handle]batch.Time
	started int
}

func (p *promising) Apply(now batch.Time, ev *batch.Event) {
	p.Policy.Apply(now, ev)
	switch ev.Kind {
	case batch.Submit:
		out := make([]batch.Estimate, 1)
		p.Estimate(now, []batch.Ask{{Job: ev.Spec, Shapes: []batch.Shape{ev.Spec.Shape}}}, out)
		p.starts[ev.Job] = out[0].Starts[0]
	case batch.Cancel:
		delete(p.starts, ev.Job)
	}
}

func (p *promising) Decide(now batch.Time, out *batch.Decisions) {
	p.Policy.Decide(now, out)
	for _, d := range out.List {
		if promised, ok := p.starts[d.Job]; !ok || now > promised {
			p.t.Fatalf("job %d starts at %d, promised for %d (known: %t)", d.Job, now, promised, ok)
		}
		delete(p.starts, d.Job)
		p.started++
	}
}

// TestPromisesHoldForJobsThatAreNotHeld or moved, local ones above all, whatever
// rounds do to others; and a ledger sees every processor. Each job starts once.
func TestPromisesHoldForJobsThatAreNotHeld(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		patience := rapid.SampledFrom([]string{"off", "0", "1", "2"}).Draw(rt, "patience")
		s := &Scenario{
			Version: 1, Mapping: MappingMCT,
			Sites: []GridSite{
				{Name: "a", Procs: 8, Policy: "cbf", Trace: "-"},
				{Name: "b", Procs: 5, Speed: "1.4", Policy: "cbf"},
				{Name: "c", Procs: 3, Policy: "cbf"},
			},
			Reallocation: &Reallocation{
				Algorithm: rapid.SampledFrom([]string{"regular", "all-cancellation"}).Draw(rt, "algorithm"),
				Heuristic: rapid.SampledFrom([]string{
					"mct", "minmin", "maxmin", "sufferage", "maxgain", "maxrelgain",
				}).Draw(rt, "heuristic"),
				Period: fmt.Sprintf("%ds", rapid.IntRange(1, 40).Draw(rt, "period")), Threshold: "1s",
				Patience: patience,
			},
		}
		if errs := s.Validate(); len(errs) > 0 {
			rt.Fatal(errs)
		}
		g, err := NewGrid(s, nil)
		if err != nil {
			rt.Fatal(err)
		}
		var policies []*promising
		for i, site := range g.sites {
			p := &promising{Policy: site.policy, t: rt, starts: map[batch.Handle]batch.Time{}}
			policies = append(policies, p)
			site.policy = p
			site.engine = engine.New(p, site, engine.NewLedger(machine(s.Sites[i].Policy, int32(s.Sites[i].Procs))))
		}
		w := &Workload{}
		now := batch.Time(0)
		for i := range rapid.IntRange(1, 40).Draw(rt, "jobs") {
			now += batch.Time(rapid.IntRange(0, 10).Draw(rt, "gap")) * batch.Time(batch.Second)
			run := batch.Duration(rapid.IntRange(1, 60).Draw(rt, "run")) * batch.Second
			home := rapid.IntRange(0, 2).Draw(rt, "home")
			w.Jobs = append(w.Jobs, Job{
				ID: int64(i), Submit: now, Runtime: run, Home: int32(home), Local: rapid.IntRange(0, 2).Draw(rt,
					"local") == 0,
				Walltime: run + batch.Duration(rapid.IntRange(0, 60).Draw(rt, "more"))*batch.Second,
				Width:    int32(rapid.IntRange(1, int(s.Sites[home].Procs)).Draw(rt, "width")),
			})
		}
		outcomes, err := g.Run(context.Background(), w)
		if err != nil {
			rt.Fatal(err)
		}
		started := 0
		for _, p := range policies {
			started += p.started
		}
		if len(outcomes) != len(w.Jobs) || started != len(w.Jobs) {
			rt.Fatalf("%d jobs, %d outcomes, %d starts", len(w.Jobs), len(outcomes), started)
		}
	})
}
