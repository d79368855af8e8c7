package dfrs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// remap maps all jobs with MCB8 or MCB8-stretch, which drop the jobs of lowest priority
// that do not fit.
func (p *Policy) remap(now batch.Time, stretch bool) {
	p.counts.Packings++
	p.candidates(now)
	homed := p.homesFirst(now)
	p.packing = p.packing[:0]
	for _, r := range p.order {
		j := &p.jobs[r.job]
		one := pack.Job{Order: j.seq, Groups: j.groups}
		if j.home != nil {
			one.Groups, one.Pinned = withoutMemory(j.groups), j.home
		}
		if stretch {
			one.Flow, one.Virtual = j.flowAt(now), j.virtualAt(now)
		}
		if j.home == nil && j.state == placed && p.pinned(now, j) {
			one.Pinned = j.target
		}
		p.packing = append(p.packing, one)
	}
	if p.watch != nil {
		p.watch(&p.machine, p.packing)
	}
	if p.packer == nil {
		p.packer = &pack.Packer{}
	}
	kept, yields := 0, []batch.Share(nil)
	for len(p.order) > 0 {
		if stretch {
			kept, _, yields = p.packer.Stretch(&p.machine, p.packing, p.set.period)
		} else {
			kept, _ = p.packer.Yield(&p.machine, p.packing)
		}
		if kept > homed || kept == len(p.order) {
			break
		}
		// A job that does not fit even alone must not block the others.
		first := p.order[homed].job
		if p.jobs[first].barred = p.machines; p.jobs[first].state == placed {
			p.unplace(now, first)
		}
		p.order, p.packing = slices.Delete(p.order, homed, homed+1), slices.Delete(p.packing, homed, homed+1)
	}
	if p.set.match && kept > 0 {
		p.packer.Match(func(i int) []place { return p.jobs[p.order[i].job].target })
	}
	p.retarget(now, kept)
	if stretch {
		p.expect(now, yields[:kept])
	}
}

// WatchPackings calls f with the input of each packing, the jobs by descending priority,
// which is valid during the call. A fork is not watched.
func (p *Policy) WatchPackings(see func(*pack.Machine, []pack.Job)) { p.watch = see }

// candidates collects all jobs that can be placed in p.order, by descending priority.
func (p *Policy) candidates(now batch.Time) {
	p.order = p.order[:0]
	add := func(list []batch.Handle) {
		for _, h := range list {
			if j := &p.jobs[h]; j.state == placed || p.possible(j) {
				p.order = append(p.order, ranked{j.key(now), j.seq, h})
			}
		}
	}
	add(p.fresh)
	add(p.resting)
	add(p.placed)
	slices.SortFunc(p.order, ranked.compare)
}

// pinned reports whether a placed job must not be moved.
func (p *Policy) pinned(now batch.Time, j *job) bool {
	switch p.set.algorithm.Limit {
	case MinFT:
		return j.flowAt(now) < p.set.algorithm.Bound
	case MinVT:
		return j.virtualAt(now) < p.set.algorithm.Bound
	}
	return false
}

// retarget makes a packing of the first n of p.order their target. The others have none.
func (p *Policy) retarget(now batch.Time, kept int) {
	for i, r := range p.order {
		if j := &p.jobs[r.job]; j.state == placed && (i >= kept || !slices.Equal(j.target, p.packer.Placements(i))) {
			p.unplace(now, r.job)
		}
	}
	for i, r := range p.order[:kept] {
		if p.jobs[r.job].state != placed {
			p.place(r.job, slices.Clone(p.packer.Placements(i)))
		}
	}
}

// expect sets the basis of the jobs' stretches in the pool until the next packing.
func (p *Policy) expect(now batch.Time, yields []batch.Share) {
	for i, r := range p.order[:len(yields)] {
		j := &p.jobs[r.job]
		j.flow, j.had, j.least = j.flowAt(now), j.virtualAt(now), yields[i]
	}
}
