package dfrs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// nodeDown removes a node from use. The driver will report the fate of the jobs that run
// there; until then they hold their allocations.
func (p *Policy) nodeDown(now batch.Time, node int32) {
	if p.machine.Down[node] {
		return
	}
	p.machine.Down[node] = true
	p.up--
	p.machines++
	on := func(places []place) bool {
		return slices.ContainsFunc(places, func(at place) bool { return at.Node == node })
	}
	for i := range p.jobs {
		h, j := batch.Handle(i), &p.jobs[i]
		switch {
		case j.running && on(j.at):
			p.strand(now, h)
		case j.state == placed && on(j.target):
			p.unplace(now, h)
			p.arrives(h)
		}
	}
}

// strand removes the target of a job on a node that went down, without a decision.
func (p *Policy) strand(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	if len(j.gone) > 0 { // moving: it holds one allocation or the other from now on
		p.leave(j, -1)
	}
	if j.state == placed {
		p.unplace(now, h)
	}
	p.depart(now, j, j.at)
	j.running, j.at = false, nil
	j.stranded = true
}

// nodeUp returns a node to use. Stranded jobs with all nodes back have run all the
// time.
func (p *Policy) nodeUp(now batch.Time, node int32) {
	if !p.machine.Down[node] {
		return
	}
	p.machine.Down[node] = false
	p.up++
	p.machines++
	p.freed = true
	for i := range p.jobs {
		if j := &p.jobs[i]; j.stranded && p.stand(j.gone) {
			p.recover(now, batch.Handle(i))
		}
	}
}

// stand reports whether all nodes of an allocation are up.
func (p *Policy) stand(places []place) bool {
	return !slices.ContainsFunc(places, func(at place) bool { return p.machine.Down[at.Node] })
}

// recover restores a stranded job as running on its nodes. If other jobs have them as
// targets by now, it must leave.
func (p *Policy) recover(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	at, yield := j.gone, j.held
	j.stranded = false
	p.leave(j, -1)
	if j.state == placed { // it has got another target meanwhile
		p.unplace(now, h)
	}
	j.running, j.at = true, at
	p.hold(j, at, 1)
	if j.home != nil || p.spare(j, at) {
		p.place(h, at)
		p.forgetArrival(h)
	} else {
		p.arrives(h)
	}
	j.settle(now, yield)
	p.enterPool(now, h)
	p.look(h)
}

// spare reports whether the memory for a job's tasks is free under the targets.
func (p *Policy) spare(j *job, places []place) bool {
	for _, at := range places {
		need := int64(0)
		for _, other := range places {
			if other.Node == at.Node {
				need += int64(other.Tasks) * j.groups[other.Group].Memory
			}
		}
		if need > 0 && p.free[at.Node] < need {
			return false
		}
	}
	return true
}
