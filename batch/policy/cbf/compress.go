package cbf

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/queue"
)

// compress lets each waiting job, in submission order, begin earlier if it can.
//
// A job can only because of capacity that was given back since it was last
// looked at: its new place meets a gap, and somewhere in that gap, before the
// job's planned start, as much is free as it needs. So a job is gone by that is
// too wide for every gap or begins before the first one, and for the others only
// places that meet a gap are tried.
//
// Incoming jobs stay where they are: moved to a time before they are confirmed
// they would lose their place.
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
			// The jobs before it will see in the next compression what it leaves.
			if g := p.advance(now, b, i); g.start < g.end {
				p.gaps.add(g, p.many())
				p.freed.add(g, p.many())
				first, most = min(first, g.start), max(most, g.most)
			}
		}
	}
}

// measure cuts off what has passed of the gaps, finds out how much is free in
// those that are new, and returns the beginning of the first one and the most
// that is free in any.
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

// many says whether the plan is so long that keeping gaps apart saves more than
// it costs.
func (p *Policy) many() bool { return p.Profile.Len() > p.long }

// advance moves the job at position i of block b to its earliest fit before its
// planned start, if there is one and it may start. It returns what the job had
// and has no more: the end of its old place.
func (p *Policy) advance(now batch.Time, b *queue.Block, i int) gap {
	old, d, c := b.Start[i], b.Walltime[i], b.Charge[i]
	if old == batch.Never { // no place yet: any will do, whether it meets a gap or not
		if p.Job(b.Job[i]).State == counted.Waiting {
			p.plan(now, b.Job[i])
		}
		return gap{}
	}
	start := p.earlier(now, old, d, c)
	if start == batch.Never {
		return gap{} // most jobs: no need to look at them more closely
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

// earlier returns the earliest start in [from, old) of a job that is planned to
// begin at old, Never if there is none. The starts whose places meet a gap are a
// stretch; stretches that touch are searched in one go.
func (p *Policy) earlier(from, old batch.Time, d batch.Duration, charge int32) batch.Time {
	latest := from
	for _, g := range p.gaps {
		if g.start >= old {
			break
		}
		if g.most < charge || g.end <= from {
			continue
		}
		// [t, t+d) meets the gap if t is later than start-d and earlier than end.
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
