package fractional

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/dfrs/pack"
)

// The states that the paper times MCB8 on: those of as many jobs, met by the algorithm
// that packs most often.
const (
	statesAlgorithm = "MCB8*/opt=min"
	leastJobs       = 11
	mostJobs        = 102
	statesEvery     = 300 // one in so many is kept
)

// WriteStates runs the unscaled workloads and writes some of the states that MCB8 is
// asked to pack. It returns how many it met and wrote.
func WriteStates(ctx context.Context, w io.Writer) (met, written int, err error) {
	for seed := 1; seed <= Seeds; seed++ {
		in, err := Synthetic(ctx, seed)
		if err != nil {
			return met, written, err
		}
		r := &recorder{machine: pack.Machine{Nodes: in.Nodes, CPU: int64(batch.One), Memory: in.Memory}}
		r.met = func(jobs []pack.Job) error {
			if met++; met%statesEvery != 0 {
				return nil
			}
			written++
			return pack.WriteState(w, &r.machine, jobs)
		}
		wrap := func(p batch.Policy) batch.Policy {
			r.Policy = p
			return r
		}
		if _, err = Run(ctx, in, statesAlgorithm, 0, Penalty, Options{Wrap: wrap}); err == nil {
			err = r.err
		}
		if err != nil {
			return met, written, err
		}
	}
	return met, written, nil
}

// recorder follows a policy that packs all jobs at every submission and completion, and
// makes up what it packs by itself, from what it is told and what it decides.
type recorder struct {
	batch.Policy
	machine pack.Machine
	met     func([]pack.Job) error
	err     error

	jobs    []recorded // in order of submission
	order   int64
	changed bool // a job has come or gone since the last pass
}

// recorded is a job that is there.
type recorded struct {
	job    pack.Job
	handle batch.Handle
	submit batch.Time
	since  batch.Time
	yield  batch.Share
}

// pass integrates the yields until now.
func (r *recorder) pass(now batch.Time) {
	for i := range r.jobs {
		j := &r.jobs[i]
		j.job.Flow = now.Sub(j.submit)
		j.job.Virtual += now.Sub(j.since).Times(int64(j.yield), int64(batch.One))
		j.since = now
	}
}

// Apply implements batch.Policy.
func (r *recorder) Apply(now batch.Time, ev *batch.Event) {
	r.pass(now)
	switch ev.Kind {
	case batch.Submit:
		r.order++
		group := pack.Group{Tasks: ev.Spec.Shape.Width, CPU: ev.Spec.CPU, Memory: ev.Spec.Memory}
		r.jobs = append(r.jobs, recorded{
			job: pack.Job{Order: r.order, Groups: []pack.Group{group}}, handle: ev.Job, submit: now, since: now,
		})
		r.changed = true
	case batch.Finish:
		r.jobs = slices.DeleteFunc(r.jobs, func(j recorded) bool { return j.handle == ev.Job })
		r.changed = true
	default: // what is moved has been decided
	}
	r.Policy.Apply(now, ev)
}

// Decide implements batch.Policy.
func (r *recorder) Decide(now batch.Time, out *batch.Decisions) {
	r.pass(now)
	if n := len(r.jobs); r.changed && r.err == nil && n >= leastJobs && n <= mostJobs {
		jobs := make([]pack.Job, n)
		for i := range r.jobs {
			jobs[i] = r.jobs[i].job
		}
		slices.SortFunc(jobs, func(a, b pack.Job) int {
			return cmp.Or(cmp.Compare(urgency(&b), urgency(&a)), cmp.Compare(a.Order, b.Order))
		})
		r.err = r.met(jobs)
	}
	r.changed = false
	r.Policy.Decide(now, out)
	for i := range out.List {
		r.decided(&out.List[i])
	}
}

func (r *recorder) decided(d *batch.Decision) {
	for i := range r.jobs {
		j := &r.jobs[i]
		if j.handle != d.Job {
			continue
		}
		j.yield = 0
		if len(d.Places) > 0 {
			j.yield = batch.Share(int64(d.Places[0].Share) * int64(batch.One) / int64(j.job.Groups[0].CPU))
		}
	}
}

// urgency is a job's priority, without an end for one that has had nothing.
func urgency(j *pack.Job) float64 {
	if j.Virtual == 0 {
		return math.Inf(1)
	}
	virtual := j.Virtual.Seconds()
	return j.Flow.Seconds() / float64(virtual*virtual)
}
