package cbf

import "github.com/seed-9b8f70bb/drover/batch"

// Rebook gives a job in the queue another place: from start on and for length,
// where it fits beside all others; what it had and has no more comes back to all.
// With a start of Never it has no place until the next compression.
//
// It is for policies that decide otherwise how long a job is planned, and let CBF
// keep the plan. A job that is started later is booked for length then, too.
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

// Compress lets each waiting job begin earlier if it can, as the next pass would.
func (p *Policy) Compress(now batch.Time) { p.compress(now) }

// GiveUp takes the places of incoming jobs whose time has come, as the next pass would.
// It says whether there were any.
func (p *Policy) GiveUp(now batch.Time) bool { return p.giveUp(now) }
