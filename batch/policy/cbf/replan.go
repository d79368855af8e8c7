package cbf

import (
	"math"
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

// Rebook moves a queued job to another slot, of the given start and length, where it
// fits beside all others. The capacity that it leaves is free for all. With a start of
// Never the job has no slot until the next compression.
//
// It serves policies that plan jobs with other lengths on top of CBF. A job that starts
// later is booked for length then, too.
func (p *Policy) Rebook(h batch.Handle, start batch.Time, length batch.Duration) {
	b, i := p.Queue.Locate(h)
	old, end := b.Start[i], b.Start[i].Add(b.Walltime[i])
	if old != batch.Never {
		p.Profile.Release(old, end, b.Charge[i])
	}
	b.Walltime[i], p.Job(h).Walltime = length, length
	p.Queue.SetStart(b, i, start)
	from, to := batch.Never, batch.Never
	if start != batch.Never {
		from, to = start, start.Add(length)
		p.Profile.Reserve(from, to, b.Charge[i])
	}
	if old == batch.Never {
		return
	}
	for _, g := range []gap{{old, min(from, end), unknown}, {max(old, to), end, unknown}} {
		if g.start < g.end {
			p.ended = true
			p.freed.add(g, p.many())
		}
	}
}

// Compress compresses the plan, as the next pass would.
func (p *Policy) Compress(now batch.Time) { p.compress(now) }

// GiveUp removes the slots of incoming jobs that are due to start, as the next
// pass would. It reports whether there were any.
func (p *Policy) GiveUp(now batch.Time) bool { return p.giveUp(now) }

// gap is an interval in which capacity was freed.
type gap struct {
	start, end batch.Time
	most       int32 // upper bound of the free capacity in it
}

// unknown is gap.most before measuring.
const unknown = math.MaxInt32

// gaps is sorted by time; its elements do not overlap.
type gaps []gap

// add inserts a gap. With apart it merges only gaps that touch, otherwise it merges all
// into one.
func (s *gaps) add(g gap, apart bool) {
	list := *s
	switch {
	case g.start >= g.end:
		return
	case !apart && len(list) == 1:
		list[0] = list[0].with(g)
		return
	}
	from, to := 0, len(list)
	if apart {
		from, _ = slices.BinarySearchFunc(list, g, func(a, g gap) int {
			if a.end < g.start {
				return -1
			}
			return 1
		})
		to = from
		for to < len(list) && list[to].start <= g.end {
			to++
		}
	}
	for _, o := range list[from:to] {
		g = g.with(o)
	}
	*s = slices.Replace(list, from, to, g)
}

// with returns the smallest interval that holds both.
func (g gap) with(o gap) gap {
	return gap{min(g.start, o.start), max(g.end, o.end), max(g.most, o.most)}
}
