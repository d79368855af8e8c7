package cbf

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/queue"
)

// compress lets each waiting job, in submission order, begin earlier if it can.
//
// A job can begin earlier only through capacity that was freed since it was last
// examined: its new slot overlaps a gap, and somewhere in that gap, before the job's
// planned start, its width is free. compress skips a job that is too wide for every gap
// or begins before the first one. For the others it tries only slots that overlap a
// gap.
//
// Incoming jobs stay where they are: a start before their confirmation would cost them
// their slot.
func (p *Policy) compress(now batch.Time) {
	if !p.ended {
		return
	}
	p.ended = false
	p.freed, p.gaps = p.gaps[:0], p.freed
	first, most := p.measure(now)
	for b := p.Queue.Head(); b != nil; b = p.Queue.Next(b) {
		if b.Least > most {
			continue
		}
		for i := range b.N {
			if b.Charge[i&(queue.BlockSize-1)] > most || b.Start[i&(queue.BlockSize-1)] <= first {
				continue
			}
			// Earlier jobs see the capacity that it leaves in the next compression.
			if g := p.advance(now, b, i); g.start < g.end {
				p.gaps.add(g, p.many())
				p.freed.add(g, p.many())
				first, most = min(first, g.start), max(most, g.most)
			}
		}
	}
}

// measure cuts off the past of the gaps, finds the free capacity in new ones, and
// returns the beginning of the first gap and the highest free capacity of any.
func (p *Policy) measure(now batch.Time) (first batch.Time, most int32) {
	kept := p.gaps[:0]
	first = batch.Never
	for _, g := range p.gaps {
		if g.start = max(g.start, now); g.start >= g.end {
			continue
		}
		if g.most == unknown {
			g.most = p.Profile.Highest(g.start, g.end)
		}
		first, most = min(first, g.start), max(most, g.most)
		kept = append(kept, g)
	}
	p.gaps = kept
	return first, most
}

// many reports whether the plan is so long that keeping gaps separate pays off.
func (p *Policy) many() bool { return p.Profile.Len() > p.long }

// advance moves the job at position i of block b to its earliest fit before its
// planned start, if there is one and it may start. It returns the capacity that the job
// leaves: the end of its old slot.
func (p *Policy) advance(now batch.Time, b *queue.Block, i int) gap {
	old, d, c := b.Start[i], b.Walltime[i], b.Charge[i]
	if old == batch.Never { // no slot yet: any fit will do, with or without a gap
		if p.Job(b.Job[i]).State == counted.Waiting {
			p.plan(now, b.Job[i])
		}
		return gap{}
	}
	start := p.earlier(now, old, d, c)
	if start == batch.Never {
		return gap{} // the common case
	}
	j := p.Job(b.Job[i])
	if j.State == counted.Incoming {
		return gap{}
	}
	if j.Spec.EarliestStart > start {
		if start = p.earlier(j.Spec.EarliestStart, old, d, c); start == batch.Never {
			return gap{}
		}
	}
	p.Queue.SetStart(b, i, start)
	from, to, most := p.Profile.Move(old, start, d, c)
	return gap{from, to, most}
}

// earlier returns the earliest start in [from, old) of a job that is planned to begin
// at old, Never if there is none. The starts of slots that overlap a gap form an
// interval; adjacent intervals are searched at once.
func (p *Policy) earlier(from, old batch.Time, d batch.Duration, charge int32) batch.Time {
	latest := from
	for _, g := range p.gaps {
		if g.start >= old {
			break
		}
		if g.most < charge || g.end <= from {
			continue
		}
		// [t, t+d) overlaps the gap if t is later than start-d and earlier than end.
		if first := g.start - batch.Time(d) + 1; first > latest {
			if t := p.Profile.FitWithin(from, latest, old, d, charge); t != batch.Never {
				return t
			}
			from = first
		}
		latest = max(latest, min(g.end, old))
	}
	return p.Profile.FitWithin(from, latest, old, d, charge)
}
