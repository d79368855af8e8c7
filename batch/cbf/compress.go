package cbf

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/counted"
	"github.com/seed-9b8f70bb/drover/batch/queue"
)

// gap is a stretch of time that holds all capacity given back since some
// moment; empty if end is 0.
type gap struct{ start, end batch.Time }

func (g *gap) add(start, end batch.Time) {
	switch {
	case start >= end:
		return
	case g.end == 0:
		*g = gap{start, end}
		return
	}
	g.start, g.end = min(g.start, start), max(g.end, end)
}

// compress lets each waiting job, in submission order, begin earlier if it can.
//
// A job of charge c that begins at s cannot, unless there is an instant in the
// gap, before s, at which c is free: before the gap opened nothing earlier was
// free for it, and its own place does not count before s.
//
// Incoming jobs stay where they are: moved to a time before they are confirmed
// they would lose their place.
func (p *Policy) compress(now batch.Time) {
	if !p.ended {
		return
	}
	g := p.freed
	g.add(p.moved.start, p.moved.end)
	g.start = max(g.start, now)
	p.ended, p.freed, p.moved = false, gap{}, gap{}
	if g.start >= g.end {
		return
	}
	most := p.Profile.Highest(g.start, g.end)
	for b := p.Queue.Head(); b != nil && most > 0; b = p.Queue.Next(b) {
		if b.Least > most {
			continue
		}
		for i := range b.N {
			if b.Charge[i&(queue.BlockSize-1)] > most || b.Start[i&(queue.BlockSize-1)] <= g.start {
				continue
			}
			if old := b.Start[i]; p.advance(now, b, i) && old != batch.Never {
				// What it had and has no more: the end of its old place.
				d := b.Walltime[i]
				from, to := max(old, b.Start[i].Add(d)), old.Add(d)
				p.moved.add(from, to)
				g.add(from, to)
				most = max(most, p.Profile.Highest(from, to))
			}
		}
	}
}

// advance moves the job at position i of block b to its earliest fit before its
// planned start, if there is one and it may start.
func (p *Policy) advance(now batch.Time, b *queue.Block, i int) bool {
	old, d, c := b.Start[i], b.Walltime[i], b.Charge[i]
	j := p.Job(b.Job[i])
	if j.State == counted.Incoming {
		return false
	}
	from := max(now, j.Spec.EarliestStart)
	start := p.Profile.FitBefore(from, old, d, c)
	if start == batch.Never {
		return false
	}
	if old == batch.Never {
		p.Profile.Reserve(start, start.Add(d), c)
	} else {
		p.Profile.Move(old, start, d, c)
	}
	p.Queue.SetStart(b, i, start)
	return true
}
