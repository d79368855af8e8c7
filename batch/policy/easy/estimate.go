package easy

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// AnswerFixed answers asks about reservations, jobs in them and agreed jobs, and reports
// whether the ask is one of those. They may delay any waiting job but the head.
func (p *Policy) AnswerFixed(now batch.Time, a *batch.Ask, out *batch.Estimate) bool {
	if p.AnswerInside(now, a, out) {
		return true
	}
	if !p.Fixed(a) {
		return false
	}
	plan := p
	if p.Overdue(now) != 0 {
		plan = p.Fork().(*Policy)
		plan.Decide(now, &batch.Decisions{})
	}
	give := plan.holdHead(now)
	plan.AnswerBeside(now, a, plan.Profile, out)
	give()
	return true
}

// guardedRoom is Room beside reservations and agreed jobs.
func (p *Policy) guardedRoom(now batch.Time, out []profile.Level) []profile.Level {
	give := p.holdHead(now)
	first := len(out)
	out = p.Profile.Levels(now, out)
	give()
	for i := first; i < len(out); i++ {
		out[i].Free = min(out[i].Free, p.Free)
	}
	return out
}
