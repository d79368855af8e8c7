package overbook

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// claim books jobs that count on others for the capacity that those have freed, as far as
// promised, in the order of the promises and before other jobs get it. It reports whether
// any job got some.
func (p *Policy) claim(now batch.Time) bool {
	any := false
	for i := 0; i < len(p.waiting); i++ {
		h := p.waiting[i]
		if j := &p.jobs[h]; j.nominal == batch.Never || !p.claimFor(now, h, j) {
			continue
		}
		any = true
		if b, at := p.Queue.Locate(h); b.Walltime[at] >= p.jobs[h].long {
			p.leave(h)
			i--
		}
	}
	return any
}

// claimFor is claim for one job.
func (p *Policy) claimFor(now batch.Time, h batch.Handle, j *job) bool {
	b, i := p.Queue.Locate(h)
	start, length, wanted := b.Start[i], b.Walltime[i], max(now, j.nominal)
	if start == batch.Never || start <= wanted {
		return false
	}
	at := p.Profile.FitBefore(wanted, start, start.Sub(wanted), b.Charge[i])
	if at == batch.Never {
		return false
	}
	p.Rebook(h, at, min(j.long, length+start.Sub(at)))
	if at > wanted {
		p.pin(h, at)
		return true
	}
	j.nominal = batch.Never
	p.Job(h).Spec = j.spec
	return true
}

// straighten extends bookings, up to the jobs' terms, where time behind them has become
// free.
func (p *Policy) straighten() {
	kept := p.waiting[:0]
	for _, h := range p.waiting {
		if p.grow(h) {
			kept = append(kept, h)
			continue
		}
		p.counts.Straightened++
	}
	p.waiting = kept
}

// grow extends the booking of a job, and reports whether it is still shorter than its terms
// allow or later than promised.
func (p *Policy) grow(h batch.Handle) bool {
	j := &p.jobs[h]
	b, i := p.Queue.Locate(h)
	start, length := b.Start[i], b.Walltime[i]
	if start == batch.Never {
		return true
	}
	end := start.Add(length)
	most := min(start, j.nominal).Add(j.long)
	if to := min(most, p.Profile.Until(end, b.Charge[i])); to > end {
		p.Rebook(h, start, to.Sub(start))
		end = to
	}
	return end < most || j.nominal < start
}
