package cbf

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// replan plans all waiting jobs from scratch, in order, after the machine has broken
// promises. An incoming job that gave up its slot gets none; other jobs keep their
// slot or get a later one. Agreed jobs keep their slots where possible; the rest of
// them are placed before other jobs.
func (p *Policy) replan(now batch.Time) {
	p.broke = false
	firm := p.takeOut()
	lost := p.dislodge(now, firm)
	for _, h := range lost {
		p.planAgain(now, h)
	}
	for b := p.Queue.Head(); b != nil; b = p.Queue.Next(b) {
		for _, h := range b.Job[:b.N] {
			if len(firm) > 0 && firm[0] == h {
				firm = firm[1:] // it already has a slot
				continue
			}
			p.planAgain(now, h)
		}
	}
	p.freed = p.freed[:0]
}

// takeOut removes all slots from the profile except those of agreed jobs, which it
// returns.
func (p *Policy) takeOut() (firm []batch.Handle) {
	for b := p.Queue.Head(); b != nil; b = p.Queue.Next(b) {
		for i := range b.N {
			switch s := b.Start[i]; {
			case s == batch.Never:
			case p.Job(b.Job[i]).Spec.Agreed:
				firm = append(firm, b.Job[i])
			default:
				p.Profile.Release(s, s.Add(b.Walltime[i]), b.Charge[i])
			}
		}
	}
	return firm
}

// dislodge removes agreed jobs, last ones first, until the slots of the others fit. It
// returns the removed ones in order.
func (p *Policy) dislodge(now batch.Time, firm []batch.Handle) (lost []batch.Handle) {
	for _, h := range slices.Backward(firm) {
		b, i := p.Queue.Locate(h)
		start, end := b.Start[i], b.Start[i].Add(b.Walltime[i])
		if end > now && p.Profile.Lowest(max(start, now), end) >= 0 {
			continue
		}
		p.Profile.Release(start, end, b.Charge[i])
		lost = append(lost, h)
	}
	slices.Reverse(lost)
	return lost
}

// planAgain is plan for a job that was removed from the profile.
func (p *Policy) planAgain(now batch.Time, h batch.Handle) {
	from := now
	if p.Job(h).State == counted.Incoming {
		b, i := p.Queue.Locate(h)
		from = b.Start[i]
	}
	if from != batch.Never {
		p.plan(from, h)
	}
}
