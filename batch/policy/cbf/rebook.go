package cbf

import "github.com/seed-9b8f70bb/drover/batch"

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
