package exec

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// world is a site in virtual time: its core, its policy, and jobs with fixed ends.
type world struct {
	*rapid.T
	core    *site.Site
	policy  batch.Policy
	ahead   forecast.Forecaster
	now     batch.Time
	jobs    []*worldJob // by handle; nil for a free handle
	byID    map[batch.JobID]*worldJob
	changed bool     // since the last pass
	log     []string // events and decisions
	out     batch.Decisions
}

type worldJob struct {
	id      batch.JobID
	key     batch.Key
	spec    *batch.Job
	runtime batch.Duration
	end     batch.Time // Never while it waits
	held    bool
}

const worldWidth = 8

func newWorld(t *rapid.T, factory batch.Factory) *world {
	platform := batch.Processors(worldWidth)
	policy, err := factory(platform, nil)
	if err != nil {
		t.Fatal(err)
	}
	core, err := site.New(site.Config{Name: "lyon", Platform: platform})
	if err != nil {
		t.Fatal(err)
	}
	return &world{T: t, core: core, policy: policy, jobs: make([]*worldJob, 1), byID: map[batch.JobID]*worldJob{}}
}

// Estimate implements site.Planner.
func (w *world) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	w.pass()
	return w.ahead.Estimate(now, w.policy, asks, out)
}

func (w *world) pass() {
	if !w.changed {
		return
	}
	w.changed = false
	w.out.Reset()
	w.policy.Decide(w.now, &w.out)
	for _, d := range w.out.List {
		j := w.jobs[d.Job]
		if d.Kind != batch.Start {
			w.Fatalf("%v of job %s", d.Kind, j.id)
		}
		j.end = w.now.Add(j.runtime)
		if _, err := w.core.Running(w.now, j.key, nil, nil); err != nil {
			w.Fatal(err)
		}
		w.log = append(w.log, fmt.Sprintf("%v starts %s", w.now, j.id))
	}
	w.core.Take(w.now, &site.Effects{})
}

func (w *world) apply(ev batch.Event) {
	w.policy.Apply(w.now, &ev)
	w.changed = true
}

func (w *world) submit(id batch.JobID, r *site.Request, runtime batch.Duration) (site.Quote, error) {
	accepted, err := w.core.Submit(w.now, site.Submission{ID: id, Request: r}, w)
	if err != nil {
		return site.Quote{}, err
	}
	var fx site.Effects
	w.core.Take(w.now, &fx)
	j := &worldJob{
		id: id, key: accepted.Key(), spec: fx.Plans[0].Job, end: batch.Never,
		runtime: min(runtime, accepted.Shape.Walltime),
	}
	h := slices.Index(w.jobs[1:], nil) + 1
	if h == 0 {
		h = len(w.jobs)
		w.jobs = append(w.jobs, nil)
	}
	j.spec.Handle = batch.Handle(h)
	w.jobs[h], w.byID[id] = j, j
	w.apply(batch.Event{Kind: batch.Submit, Job: j.spec.Handle, Spec: j.spec})
	w.pass()
	return accepted.Estimate, nil
}

// leave removes a waiting job, and reports whether it did.
func (w *world) leave(id batch.JobID) bool {
	j := w.byID[id]
	if j == nil || j.end != batch.Never || j.held || j.spec.Origin != batch.Grid {
		return false
	}
	if _, err := w.core.Cancel(w.now, id); err != nil {
		w.Fatal(err)
	}
	w.core.Claimed(w.now, j.key, true)
	if err := w.core.Forget(id); err != nil {
		w.Fatal(err)
	}
	w.core.Take(w.now, &site.Effects{})
	w.apply(batch.Event{Kind: batch.Cancel, Job: j.spec.Handle})
	w.jobs[j.spec.Handle] = nil
	delete(w.byID, id)
	return true
}

func (w *world) hold(id batch.JobID) {
	j := w.byID[id]
	if j == nil || j.end != batch.Never || j.held || j.spec.Origin != batch.Grid {
		return
	}
	if held, err := w.core.Hold(w.now, "another", batch.Hour, []batch.JobID{id}); err != nil || len(held) == 0 {
		w.Fatal(held, err)
	}
	w.core.Take(w.now, &site.Effects{})
	j.held = true
	w.apply(batch.Event{Kind: batch.Hold, Job: j.spec.Handle})
}

// until advances to an instant.
func (w *world) until(limit batch.Time) {
	for w.now < limit {
		next := min(limit, w.policy.Wake())
		for _, j := range w.jobs[1:] {
			if j != nil {
				next = min(next, j.end)
			}
		}
		w.now, w.changed = max(next, w.now+1), true
		for h, j := range w.jobs {
			if j == nil || j.end > w.now {
				continue
			}
			w.apply(batch.Event{Kind: batch.Finish, Job: batch.Handle(h)})
			if _, err := w.core.Ended(w.now, j.key, batch.Outcome{End: batch.EndDone}, nil); err != nil {
				w.Fatal(err)
			}
			w.log = append(w.log, fmt.Sprintf("%v ends %s", w.now, j.id))
			w.jobs[h] = nil
			delete(w.byID, j.id)
		}
		w.pass()
	}
}

// standing returns the estimate of a waiting job; false for other jobs.
func (w *world) standing(id batch.JobID) (site.Quote, bool) {
	w.pass()
	j := w.byID[id]
	if j == nil || j.end != batch.Never || j.held {
		return site.Quote{}, false
	}
	out := make([]batch.Estimate, 1)
	w.Estimate(w.now, []batch.Ask{{Job: j.spec, Shapes: []batch.Shape{j.spec.Shape}}}, out)
	start, end := out[0].Starts[0], out[0].End(0, j.spec.Shape.Walltime)
	return site.Quote{
		Shape: j.spec.Shape, Wait: start.Sub(w.now), Run: end.Sub(start), Completion: end.Sub(w.now), Kind: out[0].Kind,
	}, true
}

// draft copies a world as a System copies itself.
func (w *world) draft() *site.Draft {
	w.pass()
	jobs := make([]drafted, len(w.jobs))
	for h, j := range w.jobs {
		if j != nil && j.end == batch.Never && !j.held {
			jobs[h] = drafted{key: j.key, job: j.spec, shape: j.spec.Shape, waits: true}
		}
	}
	return w.core.Draft(newDraft(w.now, w.policy.Fork(), &forecast.Forecaster{}, jobs))
}
