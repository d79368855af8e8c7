package dfrs

import "github.com/seed-9b8f70bb/drover/batch"

// force maps a job that does not fit by pausing jobs of low priority, or moving those that
// greedy can map elsewhere (GreedyP, GreedyPM; section 4.2). It changes nothing if that is
// not enough.
func (p *Policy) force(now batch.Time, h batch.Handle, move bool) bool {
	if !p.possible(&p.jobs[h]) {
		return false
	}
	p.rank(now, &p.placed)
	order := p.ranks
	last := len(order)
	for last > 0 && !p.fits(&p.jobs[h]) {
		last--
		p.lift(&p.jobs[order[last].job], 1)
	}
	if !p.fits(&p.jobs[h]) {
		for _, r := range order[last:] {
			p.lift(&p.jobs[r.job], -1)
		}
		return false
	}
	p.marked = p.marked[:0]
	for _, r := range order[last:] { // by descending priority
		j := &p.jobs[r.job]
		if p.lift(j, -1); !p.fits(&p.jobs[h]) {
			p.lift(j, 1)
			p.marked = append(p.marked, r)
		}
	}
	for _, r := range p.marked {
		p.lift(&p.jobs[r.job], -1)
		p.unplace(now, r.job)
	}
	p.try(h)
	if move {
		for _, r := range p.marked {
			p.try(r.job)
		}
	}
	return true
}

// lift frees the memory of a job's target, or takes it again with a sign of -1. A job with
// a home frees none, so it is never paused for another.
func (p *Policy) lift(j *job, sign int64) {
	if j.home != nil {
		return
	}
	for _, at := range j.target {
		p.free[at.Node] += sign * int64(at.Tasks) * j.groups[at.Group].Memory
	}
}
