package fcfs

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
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
	over := p.Overdue(now)
	if pl := &p.plan; pl.made && pl.revision == p.Revision() && now <= min(pl.first, p.Wake()) && over == 0 {
		return
	}
	pl := &p.plan
	if pl.free == nil {
		pl.free = profile.New(now, p.Capacity)
	}
	pl.free.CopyFrom(p.Profile)
	pl.free.Trim(now)
	pl.free.Reserve(now, p.past(now), over)
	pl.made, pl.revision, pl.at, pl.first, pl.placed, pl.whole = true, p.Revision(), now, batch.Never, 0, p.Whole()
	pl.guarded = p.Guarded()
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

// past returns until when who is past his end goes on: the next instant; beside
// places that must be kept, as long as a pass would book him.
func (p *Policy) past(now batch.Time) batch.Time {
	if p.Guarded() {
		return now.Add(batch.Second)
	}
	return now + 1
}

// everybody returns what is left beside all that runs and waits. The first who may
// start is there twice, if incoming jobs stand before it: as planned, and without them.
func (p *Policy) everybody(now batch.Time) *profile.Profile {
	p.planned(now)
	if p.full == nil {
		p.full = profile.New(now, p.Capacity)
	}
	p.full.CopyFrom(p.Profile)
	p.full.Trim(now)
	p.full.Reserve(now, p.past(now), p.Overdue(now))
	for h := range p.InOrder {
		if t := p.plan.begin[h]; t != batch.Never {
			p.full.Reserve(t, t.Add(p.Job(h).Walltime), p.Job(h).Charge)
		}
	}
	if b, i := p.FirstReady(); b != nil && !p.plan.whole {
		if t := p.Profile.Fit(now, b.Walltime[i], b.Charge[i]); t < p.plan.begin[b.Job[i]] {
			p.full.Reserve(t, t.Add(b.Walltime[i]), b.Charge[i])
		}
	}
	l := &p.scratch
	for l.copyFrom(&p.plan.line); len(l.later) > 0; {
		for l.join(); len(l.ready) > 0; {
			if it, t := l.next(); t != batch.Never {
				p.full.Reserve(t, t.Add(it.walltime), it.charge)
			}
		}
	}
	return p.full
}

// Estimate answers by the plan. See batch.Policy.
func (p *Policy) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	p.planned(now)
	for i := range asks {
		a, e := &asks[i], &out[i]
		if p.AnswerFixed(now, a, e) {
			continue
		}
		from := max(now, a.From, a.Job.EarliestStart)
		e.Kind, e.P = batch.Promised, 0
		if !p.plan.whole || from > now { // who starts until then may put it off
			e.Kind = batch.Forecast
		}
		starts := e.Grow(len(a.Shapes))
		switch {
		case a.Job.Handle != batch.NoJob:
			fill(starts, p.standing(a.Job.Handle))
		case a.Best && len(p.plan.later) == 0: // no room that is free once is taken again
			p.menu.Take(a, p.ChargeOf)
			shape, start := p.soonest.Of(p.plan.free, max(p.plan.at, from), p.menu.Charges, p.menu.Walltimes)
			p.menu.Answer(a, shape, start, e)
		default:
			p.charges = p.charges[:0]
			for _, s := range a.Shapes {
				p.charges = append(p.charges, p.ChargeOf(s.Width, a.Job.Memory))
			}
			p.ahead().starts(from, p.charges, a.Shapes, starts)
		}
	}
	return nil
}

// AnswerFixed answers asks about reservations, jobs in them, and agreed jobs, and says
// whether an ask is one. They put nobody off.
func (p *Policy) AnswerFixed(now batch.Time, a *batch.Ask, out *batch.Estimate) bool {
	if p.AnswerInside(now, a, out) {
		return true
	}
	if !p.Fixed(a) {
		return false
	}
	p.AnswerBeside(now, a, p.everybody(now), out)
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
