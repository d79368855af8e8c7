package sla

import (
	"context"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/overbook"
	"github.com/seed-9b8f70bb/drover/sim"
)

// Run offers the jobs of a workload to a machine of so many processors, under a new
// policy, and returns the account. It ends early only if ctx does.
func Run(ctx context.Context, w *sim.Workload, procs int32, d Demand, settings batch.Settings) (Account, error) {
	if err := d.Validate(); err != nil {
		return Account{}, err
	}
	policy, err := overbook.New(batch.Platform{Nodes: []batch.Node{{Processors: procs}}}, settings)
	if err != nil {
		return Account{}, err
	}
	s := &seller{policy: policy.(*overbook.Policy), demand: d, next: 1}
	s.engine = engine.New(s.policy, s, nil)
	if err := s.serve(ctx, w.Jobs); err != nil {
		return Account{}, err
	}
	if len(w.Jobs) > 0 {
		s.account.Span -= w.Jobs[0].Submit
	}
	s.account.Counts = s.policy.Counts()
	return s.account, nil
}

// seller sells the time of the machine.
type seller struct {
	policy  *overbook.Policy
	engine  *engine.Engine
	demand  Demand
	names   sim.Names
	sold    []sold // by handle
	unused  []batch.Handle
	next    batch.Handle
	settled []overbook.Settlement
	out     [1]batch.Estimate
	account Account
}

// sold is an accepted job.
type sold struct {
	job   *sim.Job
	fixed bool
}

// checkEvery is how many submissions lie between two looks at the context.
const checkEvery = 1000

func (s *seller) serve(ctx context.Context, jobs []sim.Job) error {
	for next := 0; ; {
		now := s.engine.Next()
		if next < len(jobs) {
			now = min(now, jobs[next].Submit)
		}
		if now == batch.Never {
			return nil
		}
		s.engine.Advance(now)
		s.engine.Pass()
		for ; next < len(jobs) && jobs[next].Submit == now; next++ {
			if next%checkEvery == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			if s.offer(&jobs[next]) {
				s.engine.Pass()
			}
		}
	}
}

// offer says whether a job is accepted.
func (s *seller) offer(j *sim.Job) bool {
	s.account.Offered.add(j.Width, j.Walltime)
	w := s.demand.of(j)
	spec := &batch.Job{Shape: batch.Shape{Width: j.Width, Walltime: j.Walltime}, Checkpoint: w.checkpoint}
	spec.Owner, spec.Name = s.names.Of(j)
	accepted := false
	if w.fixed {
		accepted = s.reserve(j, spec, w)
	} else {
		spec.EarliestStart, spec.Deadline, spec.Agreed = w.from, w.due, true
		if accepted = s.fits(spec); accepted {
			spec.Handle = s.handle(sold{job: j})
			s.engine.Submit(spec, min(j.Runtime, j.Walltime))
		}
	}
	if accepted {
		s.account.Accepted.add(j.Width, j.Walltime)
	}
	return accepted
}

// reserve sets a window aside, if that can be, and submits the job into it.
func (s *seller) reserve(j *sim.Job, spec *batch.Job, w wish) bool {
	window := &batch.Job{Shape: spec.Shape, Window: &batch.Window{Start: w.from, End: w.due}}
	if !s.fits(window) {
		return false
	}
	s.account.Fixed.add(j.Width, j.Walltime)
	window.Handle = s.handle(sold{})
	s.engine.Apply(&batch.Event{Kind: batch.Reserve, Job: window.Handle, Spec: window})
	spec.Into, spec.Checkpoint = window.Handle, false
	spec.Handle = s.handle(sold{job: j, fixed: true})
	s.engine.Submit(spec, min(j.Runtime, j.Walltime))
	return true
}

func (s *seller) fits(spec *batch.Job) bool {
	asks := [1]batch.Ask{{Job: spec, Shapes: []batch.Shape{spec.Shape}}}
	s.policy.Estimate(s.engine.Now(), asks[:], s.out[:])
	return s.out[0].Starts[0] != batch.Never
}

// handle gives a job one that is not in use. Those of windows are used once.
func (s *seller) handle(x sold) batch.Handle {
	h := s.next
	if n := len(s.unused); n > 0 {
		h, s.unused = s.unused[n-1], s.unused[:n-1]
	} else {
		s.next++
	}
	for int(h) >= len(s.sold) {
		s.sold = append(s.sold, sold{})
	}
	s.sold[h] = x
	return h
}

// Started implements engine.Observer.
func (s *seller) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}

// Ended implements engine.Observer: it settles the account of a job.
func (s *seller) Ended(now batch.Time, spec *batch.Job, killed bool) {
	x := s.sold[spec.Handle]
	j := x.job
	s.unused = append(s.unused, spec.Handle)
	s.account.Span = max(s.account.Span, now)
	var settled overbook.Settlement
	s.settled = s.policy.Settlements(s.settled[:0])
	for _, v := range s.settled {
		if v.Job == spec.Handle {
			settled = v
		}
	}
	finished := !killed && j.Runtime <= j.Walltime
	work := int64(j.Width) * int64(min(j.Runtime, j.Walltime)/batch.Second)
	switch {
	case finished:
		s.account.Useful += work
	case killed:
		s.account.Vain += int64(j.Width) * int64(settled.Ran/batch.Second)
	default:
		s.account.Vain += work
	}
	sum := &s.account.Kept
	switch {
	case finished && (x.fixed || now <= spec.Deadline):
	case settled.Verdict == overbook.Shortened || x.fixed && killed:
		sum = &s.account.Shortened
	case settled.Verdict == overbook.Late:
		sum = &s.account.Late
	default:
		sum = &s.account.Outran
	}
	sum.add(j.Width, j.Walltime)
}
