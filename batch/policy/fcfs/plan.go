package fcfs

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// plan holds the starts of all waiting jobs if running jobs use their whole walltimes,
// incoming jobs are confirmed at once and no other job arrives.
type plan struct {
	line
	made     bool
	revision uint64       // of the backlog at the time of planning
	first    batch.Time   // the earliest start
	begin    []batch.Time // by handle; Never for jobs without a start
	placed   int
	whole    bool // see counted.Backlog.Whole
}

// planned recomputes the plan unless it is still valid: there were only submissions
// since, no job should have started or entered before now, and no job overran.
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

// add plans a new job at the end of the queue.
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

// past returns the assumed end of a job that overruns: the next instant, or, beside
// slots that must be kept, the end for which a pass would book it.
func (p *Policy) past(now batch.Time) batch.Time {
	if p.Guarded() {
		return now.Add(batch.Second)
	}
	return now + 1
}

// capacityBeside returns the capacity left beside all running and waiting jobs. The first
// job that may start is booked twice if incoming jobs are ahead of it: as planned, and
// as if they were absent.
func (p *Policy) capacityBeside(now batch.Time) *profile.Profile {
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

// Estimate answers from the plan; see batch.Policy.
func (p *Policy) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	p.planned(now)
	for i := range asks {
		a, e := &asks[i], &out[i]
		if p.AnswerFixed(now, a, e) {
			continue
		}
		from := max(now, a.From, a.Job.EarliestStart)
		e.Kind, e.P = batch.Promised, 0
		if !p.plan.whole || from > now { // jobs that start until then may delay it
			e.Kind = batch.Forecast
		}
		starts := e.Grow(len(a.Shapes))
		switch {
		case a.Job.Handle != batch.NoJob:
			fill(starts, p.standing(a.Job.Handle))
		case a.Best && len(p.plan.later) == 0: // capacity that is free stays free
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

// AnswerFixed answers asks about reservations, jobs in them and agreed jobs, and reports
// whether the ask is one of those. Their slots delay no other job.
func (p *Policy) AnswerFixed(now batch.Time, a *batch.Ask, out *batch.Estimate) bool {
	if p.AnswerInside(now, a, out) {
		return true
	}
	if !p.Fixed(a) {
		return false
	}
	p.AnswerBeside(now, a, p.capacityBeside(now), out)
	return true
}

// ahead returns the line for looking ahead, a copy if a job may enter the queue.
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
