package fcfs

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/counted"
	"github.com/seed-9b8f70bb/drover/batch/profile"
)

// plan is when all who wait would start if the running jobs used up their
// walltimes, incoming ones were confirmed at once and nobody else came.
type plan struct {
	line
	made     bool
	revision uint64       // of the backlog it was made of
	first    batch.Time   // the earliest start
	begin    []batch.Time // by handle; Never for those that have none, or none yet
	placed   int
	whole    bool // see counted.Backlog.Whole
}

// planned makes the plan anew unless it holds still: nothing but submissions has
// happened, nobody should have started or come in before now, and no job has run
// past its end.
func (p *Policy) planned(now batch.Time) {
	over := p.Profile.Free(now) - p.Free
	if pl := &p.plan; pl.made && pl.revision == p.Revision() && now <= min(pl.first, p.Wake()) && over == 0 {
		return
	}
	pl := &p.plan
	if pl.free == nil {
		pl.free = profile.New(now, p.Capacity)
	}
	pl.free.CopyFrom(p.Profile)
	pl.free.Trim(now)
	pl.free.Reserve(now, now+1, over) // who is past his end goes on until the next instant
	pl.made, pl.revision, pl.at, pl.first, pl.placed, pl.whole = true, p.Revision(), now, batch.Never, 0, p.Whole()
	pl.later, pl.begin = pl.later[:0], pl.begin[:0]
	for h := range p.InOrder {
		p.add(now, h)
	}
}

// add places a job that comes last.
func (p *Policy) add(now batch.Time, h batch.Handle) {
	pl, j := &p.plan, p.Job(h)
	for int(h) >= len(pl.begin) {
		pl.begin = append(pl.begin, batch.Never)
	}
	pl.whole = pl.whole && j.State == counted.Waiting
	it := item{job: h, charge: j.Charge, walltime: j.Walltime, from: j.Spec.EarliestStart, place: pl.placed}
	pl.placed++
	if it.from > max(now, pl.at) {
		pl.park(it)
		return
	}
	for pl.ready = append(pl.ready, it); len(pl.ready) > 0; {
		it, t := pl.next()
		pl.begin[it.job] = t
		pl.first = min(pl.first, t)
	}
}

// Estimate answers by the plan. It sets no windows aside. See batch.Policy.
func (p *Policy) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) bool {
	p.planned(now)
	for i := range asks {
		a, e := &asks[i], &out[i]
		from := max(now, a.From, a.Job.EarliestStart)
		e.Kind, e.P = batch.Promised, 0
		if !p.plan.whole || from > now { // who starts until then may put it off
			e.Kind = batch.Forecast
		}
		starts := e.Grow(len(a.Shapes))
		switch {
		case a.Job.Handle != batch.NoJob:
			fill(starts, p.standing(a.Job.Handle))
		case a.Job.Window != nil:
			fill(starts, batch.Never)
		case a.Best && len(p.plan.later) == 0: // no room that is free once is taken again
			p.menu.Take(a, p.ChargeOf)
			shape, start := p.soonest.Of(p.plan.free, max(p.plan.at, from), p.menu.Charges, p.menu.Walltimes)
			p.menu.Answer(a, shape, start, e)
		default:
			p.charges = p.charges[:0]
			for _, s := range a.Shapes {
				p.charges = append(p.charges, p.ChargeOf(s.Width, a.Job.Memory))
			}
			p.ahead().starts(from, p.charges, starts)
		}
	}
	return true
}

// ahead returns the line to look ahead with, a copy if anybody may come in.
func (p *Policy) ahead() *line {
	if len(p.plan.later) == 0 {
		return &p.plan.line
	}
	p.scratch.copyFrom(&p.plan.line)
	return &p.scratch
}

func (p *Policy) standing(h batch.Handle) batch.Time {
	if !p.Waits(h) {
		return batch.Never
	}
	if t := p.plan.begin[h]; t != batch.Never {
		return t
	}
	return p.ahead().standing(h)
}

func fill(starts []batch.Time, t batch.Time) {
	for i := range starts {
		starts[i] = t
	}
}
