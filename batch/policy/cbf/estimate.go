package cbf

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// Estimate answers from the plan; the answer is a promise. If a job has overrun its
// walltime since the last pass, the plan is out of date, and the answer is that of the
// plan that a pass would make now.
func (p *Policy) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	plan := p
	if plan.Profile.Free(now) != p.Free {
		plan = p.Fork().(*Policy)
		plan.Decide(now, &batch.Decisions{})
	}
	for i := range asks {
		a := &asks[i]
		switch {
		case plan.AnswerInside(now, a, &out[i]):
		case a.Job.Handle != batch.NoJob:
			out[i].Kind, out[i].P = batch.Promised, 0
			plan.standing(a, &out[i])
		case a.Job.Window != nil:
			plan.AnswerWindow(now, a, plan.Profile, &out[i])
		default:
			p.answer(now, plan, a, &out[i])
			counted.KeepDeadline(a, &out[i])
		}
	}
	return nil
}

// answer answers an ask about a new job.
func (p *Policy) answer(now batch.Time, plan *Policy, a *batch.Ask, out *batch.Estimate) {
	out.Kind, out.P = batch.Promised, 0
	from := max(now, a.From, a.Job.EarliestStart)
	if a.Best {
		p.menu.Take(a, p.ChargeOf)
		shape, start := p.soonest.Of(plan.Profile, from, p.menu.Charges, p.menu.Walltimes)
		p.menu.Answer(a, shape, start, out)
		return
	}
	p.charges, p.walltimes = p.charges[:0], p.walltimes[:0]
	for _, s := range a.Shapes {
		p.charges = append(p.charges, p.ChargeOf(s.Width, a.Job.Memory))
		p.walltimes = append(p.walltimes, s.Walltime)
	}
	p.sweep.Starts(plan.Profile, from, p.charges, p.walltimes, out.Grow(len(a.Shapes)))
}

// standing answers an ask about a waiting job.
func (p *Policy) standing(a *batch.Ask, out *batch.Estimate) {
	start := batch.Never
	if s := p.Job(a.Job.Handle).State; s == counted.Waiting || s == counted.Incoming {
		b, i := p.Queue.Locate(a.Job.Handle)
		start = b.Start[i]
	}
	starts := out.Grow(len(a.Shapes))
	for i := range starts {
		starts[i] = start
	}
}
