package exec

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Draft returns a copy of the plan after a pass. The loop only copies; the caller pays for
// its queries. Errors are ErrClosed, and that of Err.
func (s *System) Draft(ctx context.Context) (batch.Draft, error) {
	var (
		made   batch.Time
		policy batch.Policy
		jobs   []drafted
		gone   error
	)
	err := s.ask(ctx, func(now batch.Time) {
		switch {
		case s.closing:
			gone = ErrClosed
		case s.retired:
			gone = cmp.Or(s.Err(), ErrClosed)
		default:
			made, policy, jobs = now, s.policy.Fork(), s.drafted()
		}
	})
	if err = cmp.Or(err, gone); err != nil {
		return nil, fmt.Errorf("draft: %w", err)
	}
	return newDraft(made, policy, s.forecasts(), jobs), nil
}

// drafted returns the waiting jobs that a draft needs, by handle.
func (s *System) drafted() []drafted {
	jobs := make([]drafted, len(s.handles))
	for h, a := range s.handles {
		if a != nil && a.phase == batch.PhaseQueued {
			jobs[h] = drafted{key: a.key, job: a.job, shape: a.shape, waits: true}
		}
	}
	return jobs
}

// draft is a what-if copy of the plan: a fork of the policy and the waiting jobs.
type draft struct {
	made       batch.Time
	policy     batch.Policy
	forecaster Forecaster // nil for none
	jobs       []drafted  // by handle; only those of waiting jobs are set
	byKey      map[batch.Key]batch.Handle
	unused     []batch.Handle // of jobs that were cancelled in the draft
	passed     bool           // a pass was made since the last event
	submitted  bool           // no pass was made since the last submission

	// Scratch.
	event batch.Event
	out   batch.Decisions
	asks  []batch.Ask
	ests  []batch.Estimate
}

// newDraft makes a draft from a fork of the policy and its jobs by handle.
func newDraft(made batch.Time, p batch.Policy, f Forecaster, jobs []drafted) *draft {
	d := &draft{made: made, policy: p, forecaster: f, jobs: jobs, byKey: make(map[batch.Key]batch.Handle, len(jobs))}
	for h := range jobs {
		if jobs[h].waits {
			d.byKey[jobs[h].key] = batch.Handle(h)
		}
	}
	d.submitted = true // the effect of a pass that is due comes first
	return d
}

// drafted is a job that waits in a draft. Its batch.Job may belong to a live attempt and is
// only read.
type drafted struct {
	key   batch.Key
	job   *batch.Job
	shape batch.Shape // that it was placed with, if not the job's
	waits bool
}

// Made implements batch.Draft.
func (d *draft) Made() batch.Time { return d.made }

// Estimate implements batch.Draft.
func (d *draft) Estimate(_ batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	d.pass()
	return d.policy.Estimate(d.made, asks, out) == nil || d.forecaster != nil && d.forecaster.Estimate(d.made, d.policy,
		asks, out)
}

// Standing implements batch.Draft.
func (d *draft) Standing(keys []batch.Key, out []batch.Standing) bool {
	d.pass()
	d.asks = d.asks[:0]
	for i, key := range keys {
		out[i] = batch.Standing{Start: batch.Never, End: batch.Never}
		if h := d.byKey[key]; h != batch.NoJob && d.jobs[h].waits {
			j := &d.jobs[h]
			out[i].Waits, out[i].Shape = true, j.shape
			d.asks = append(d.asks, batch.Ask{Job: j.job, Shapes: []batch.Shape{j.shape}})
		}
	}
	if len(d.asks) == 0 {
		return true
	}
	for len(d.ests) < len(d.asks) {
		d.ests = append(d.ests, batch.Estimate{})
	}
	if !d.Estimate(d.made, d.asks, d.ests[:len(d.asks)]) {
		return false
	}
	next := 0
	for i := range keys {
		if !out[i].Waits {
			continue
		}
		e := &d.ests[next]
		next++
		out[i].Kind, out[i].P = e.Kind, e.P
		if out[i].Start = e.Starts[0]; out[i].Start != batch.Never {
			out[i].End = e.End(0, out[i].Shape.Walltime)
		}
	}
	return true
}

// Submit implements batch.Draft.
func (d *draft) Submit(key batch.Key, job *batch.Job) {
	if last := len(d.unused) - 1; last >= 0 {
		job.Handle = d.unused[last]
		d.unused = d.unused[:last]
	} else {
		job.Handle = batch.Handle(len(d.jobs))
		d.jobs = append(d.jobs, drafted{})
	}
	d.jobs[job.Handle] = drafted{key: key, job: job, shape: job.Shape, waits: true}
	d.byKey[key] = job.Handle
	d.tell(batch.Event{Kind: batch.Submit, Job: job.Handle, Spec: job})
	d.submitted = true
}

// Cancel implements batch.Draft. Consecutive calls belong to one pass, as those of one call
// of Do do.
func (d *draft) Cancel(key batch.Key) bool {
	if d.submitted {
		d.pass()
	}
	h := d.byKey[key]
	if h == batch.NoJob || !d.jobs[h].waits {
		return false
	}
	d.tell(batch.Event{Kind: batch.Cancel, Job: h})
	d.jobs[h] = drafted{}
	delete(d.byKey, key)
	d.unused = append(d.unused, h)
	return true
}

func (d *draft) tell(ev batch.Event) {
	d.event, d.passed = ev, false
	d.policy.Apply(d.made, &d.event)
}

// pass makes the scheduling passes of the draft's instant, if an event is pending. A job that
// is ended frees its processors at once, as in a forecast.
func (d *draft) pass() {
	for !d.passed {
		d.passed, d.submitted = true, false
		d.out.Reset()
		d.policy.Decide(d.made, &d.out)
		for i := range d.out.List {
			switch dec := &d.out.List[i]; dec.Kind {
			case batch.Start:
				d.jobs[dec.Job].waits = false
			case batch.Resume:
				d.jobs[dec.Job].waits = false
				d.tell(batch.Event{Kind: batch.Resumed, Job: dec.Job})
			case batch.Pause:
				d.tell(batch.Event{Kind: batch.Stopped, Job: dec.Job, Checkpoint: true})
			case batch.Migrate:
				d.tell(batch.Event{Kind: batch.Stopped, Job: dec.Job, Checkpoint: true})
				d.tell(batch.Event{Kind: batch.Resumed, Job: dec.Job})
			case batch.Kill:
				d.tell(batch.Event{Kind: batch.Finish, Job: dec.Job})
			}
		}
	}
}
