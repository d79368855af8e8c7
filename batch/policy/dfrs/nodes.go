package dfrs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// nodeDown lets nobody be on a node any more. Of those who run there the driver will
// say what has become of them; until then they hold all that they had.
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

// strand takes the target from a job that runs on a node that has left, without
// telling it anything.
func (p *Policy) strand(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	if len(j.gone) > 0 { // on the move: it holds one or the other from now on
		p.leave(j, -1)
	}
	if j.state == placed {
		p.unplace(now, h)
	}
	p.depart(now, j, j.at)
	j.running, j.at = false, nil
	j.stranded = true
}

// nodeUp lets jobs be on a node again. Those who are stranded and have all their nodes
// back have been there all the time.
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

// stand says whether all nodes of some places are up.
func (p *Policy) stand(places []place) bool {
	return !slices.ContainsFunc(places, func(at place) bool { return p.machine.Down[at.Node] })
}

// recover takes a job that was stranded for one that runs where it was. If others shall
// be there by now, it has to leave.
func (p *Policy) recover(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	at, yield := j.gone, j.held
	j.stranded = false
	p.leave(j, -1)
	if j.state == placed { // elsewhere: nobody knew that it would come back
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

// spare says whether the memory for tasks of a job is nobody's under the targets.
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
