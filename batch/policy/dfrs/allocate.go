package dfrs

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

// allocate computes the yields and collects the jobs with a changed yield in p.lowered and
// p.raised.
func (p *Policy) allocate(now batch.Time) {
	p.lowered, p.raised = p.lowered[:0], p.raised[:0]
	changed := p.yields()
	if p.crumbs(changed) {
		changed = p.everybody()
	}
	for _, number := range changed {
		h := batch.Handle(number)
		j := &p.jobs[h]
		y := max(1, p.pool.Yield(number))
		if y == j.yield {
			continue
		}
		if !j.adjusted {
			p.tell(h, y < j.yield)
		}
		j.settle(now, y)
	}
	for i := range p.altered {
		was := &p.altered[i]
		j := &p.jobs[was.job]
		j.settle(now, max(1, p.pool.Yield(int32(was.job))))
		j.adjusted = false
		if less, more := j.differs(was); less || more {
			p.tell(was.job, !more)
		}
	}
}

// tell adds a job to p.lowered or p.raised, unless it begins in this pass.
func (p *Policy) tell(h batch.Handle, less bool) {
	switch {
	case p.jobs[h].new:
	case less:
		p.lowered = append(p.lowered, h)
	default:
		p.raised = append(p.raised, h)
	}
}

// crumbs reserves the smallest share for each task with a share that would round to less,
// recomputes the yields, and reports whether there were such tasks.
func (p *Policy) crumbs(changed []int32) bool {
	any := false
	for again := true; again; {
		again = false
		look := func(h batch.Handle) {
			j := &p.jobs[h]
			if j.crumb || !j.starves(p.pool.Yield(int32(h))) {
				return
			}
			j.crumb, again, any = true, true, true
			for _, at := range j.at {
				p.pool.Take(at.Node, int64(at.Tasks))
			}
		}
		for _, number := range changed {
			look(batch.Handle(number))
		}
		for _, b := range p.begun {
			look(b.job)
		}
		for i := range p.altered {
			look(p.altered[i].job)
		}
		if again {
			changed = p.yields()
		}
	}
	return any
}

// starves reports whether a task of a job would get less than one unit of CPU.
func (j *job) starves(yield batch.Share) bool {
	for i := range j.groups {
		if share.Of(yield, j.groups[i].CPU) == 0 {
			return true
		}
	}
	return false
}

// sweep frees the crumbs of a job that leaves its nodes.
func (p *Policy) sweep(j *job) {
	if !j.crumb {
		return
	}
	j.crumb = false
	for _, at := range j.at {
		p.pool.Give(at.Node, int64(at.Tasks))
	}
}

// everybody returns all running jobs in order, including those that move or have lost
// their target.
func (p *Policy) everybody() []int32 {
	var all []int32
	for h := range p.jobs {
		if p.jobs[h].running {
			all = append(all, int32(h))
		}
	}
	return all
}

// yields has the pool compute the yields (section 4.6).
func (p *Policy) yields() []int32 {
	a := &p.set.algorithm
	switch {
	case a.Period == StretchPer:
		for _, h := range p.placed {
			if j := &p.jobs[h]; j.running {
				p.pool.Expect(int32(h), j.flow, j.had, j.least)
			}
		}
		if a.Opt == Avg {
			return p.pool.MeanStretch(p.set.period)
		}
		return p.pool.MaxStretch(p.set.period)
	case a.Opt == Avg:
		return p.pool.Average()
	case a.Opt == Equal:
		return p.pool.Equal()
	}
	return p.pool.MaxMin()
}

// thinnest is the smallest factor by which decay reduces a job's weight.
const thinnest = 16

// weight returns the weight of a job's yield: that of its owner, halved for each doubling
// of its virtual time beyond the decay.
func (p *Policy) weight(now batch.Time, j *job) int32 {
	w := j.weight * share.WeightOne
	if p.set.decay == 0 {
		return w
	}
	virtual, part := j.virtualAt(now), int32(1)
	for limit := p.set.decay; virtual > limit && part < thinnest; limit *= 2 {
		part *= 2
	}
	return w / part
}

// reweigh recomputes the weights of all running jobs.
func (p *Policy) reweigh(now batch.Time) {
	if p.set.decay == 0 {
		return
	}
	for _, h := range p.placed {
		j := &p.jobs[h]
		if !j.running {
			continue
		}
		if w := p.weight(now, j); w != j.weighed {
			j.weighed = w
			p.pool.Weigh(int32(h), w)
			p.dirty = true
		}
	}
}
