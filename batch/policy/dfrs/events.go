package dfrs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Apply takes one event. See batch.Policy.
func (p *Policy) Apply(now batch.Time, ev *batch.Event) {
	switch ev.Kind {
	case batch.Submit:
		p.admit(now, ev.Spec)
		p.come(now, ev.Spec.Handle)
	case batch.Reserve:
		p.admit(now, ev.Spec).state = incoming
	case batch.Adopt:
		p.adopt(now, ev)
	case batch.Confirm:
		j := p.known(ev.Job)
		if j.state != incoming {
			panic(fmt.Sprintf("dfrs: job %d is not incoming", ev.Job))
		}
		j.released = now
		p.come(now, ev.Job)
	case batch.Hold:
		p.out(ev.Job)
	case batch.Place:
		p.out(ev.Job)
		j := &p.jobs[ev.Job]
		if !ev.Restore {
			p.seq++
			j.seq = p.seq
		}
		j.walltime = ev.Shape.Walltime
		p.reshape(j, ev.Shape.Width)
		p.come(now, ev.Job)
	case batch.Cancel:
		p.out(ev.Job)
		p.moveOut(&p.jobs[ev.Job])
		p.jobs[ev.Job] = job{}
	case batch.Finish:
		p.finish(now, ev.Job)
	case batch.StartFailed:
		p.startFailed(now, ev.Job)
	case batch.Stopped:
		p.stopped(now, ev)
	case batch.Resumed:
		p.known(ev.Job).goOn(now)
	case batch.Measured:
		p.measured(now, ev)
	case batch.NodeDown:
		p.nodeDown(now, ev.Node)
	case batch.NodeUp:
		p.nodeUp(now, ev.Node)
	default:
		panic(fmt.Sprintf("dfrs: %v: reservations are not supported", ev.Kind))
	}
}

// known returns the job of a handle, which must exist.
func (p *Policy) known(h batch.Handle) *job {
	if h < 1 || int(h) >= len(p.jobs) || p.jobs[h].state == absent {
		panic(fmt.Sprintf("dfrs: unknown job %d", h))
	}
	return &p.jobs[h]
}

// admit adds a job, last in the order.
func (p *Policy) admit(now batch.Time, spec *batch.Job) *job {
	if spec.Window != nil {
		panic(fmt.Sprintf("dfrs: job %d: reservations are not supported", spec.Handle))
	}
	for int(spec.Handle) >= len(p.jobs) {
		p.jobs = append(p.jobs, job{})
	}
	j := &p.jobs[spec.Handle]
	if j.state != absent {
		panic(fmt.Sprintf("dfrs: job %d exists already", spec.Handle))
	}
	p.seq++
	*j = job{
		spec: spec, walltime: spec.Shape.Walltime, seq: p.seq, released: now, state: held,
		weight: p.set.weightOf(spec.Owner),
	}
	p.describe(j, spec.Shape.Width)
	return j
}

// adopt adds a running job, as if it had run since its start with its current share.
func (p *Policy) adopt(now batch.Time, ev *batch.Event) {
	h := ev.Spec.Handle
	if len(ev.Allocation) == 0 {
		panic(fmt.Sprintf("dfrs: job %d has no allocation", h))
	}
	j := p.admit(now, ev.Spec)
	yield := batch.One
	for _, l := range ev.Allocation {
		j.at = append(j.at, place{Node: l.Node, Group: l.Group, Tasks: l.Processors})
		yield = min(yield, batch.Share(int64(l.Share)*int64(batch.One)/int64(j.groups[l.Group].CPU)))
	}
	slices.SortFunc(j.at, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Group, b.Group))
	})
	j.released = ev.Since
	j.settle(ev.Since, max(1, yield))
	j.settle(now, j.yield)
	j.running, j.state, j.target = true, placed, j.at
	j.pos = int32(len(p.placed))
	p.placed = append(p.placed, h)
	p.occupy(j, 1)
	p.hold(j, j.at, 1)
	p.moveIn(j)
	p.enterPool(now, h)
	if slices.ContainsFunc(j.at, func(at place) bool { return p.machine.Down[at.Node] }) {
		p.strand(now, h)
	}
}

// finish removes a job that has ended.
func (p *Policy) finish(now batch.Time, h batch.Handle) {
	j := p.known(h)
	if !j.running && len(j.gone) == 0 && j.home == nil {
		panic(fmt.Sprintf("dfrs: job %d ends but does not run", h))
	}
	j.settle(now, 0)
	p.history.learn(j.spec.Owner, j.spec.Name, j.walltime, j.virtual)
	p.vacate(j)
	if len(j.gone) > 0 {
		p.leave(j, -1)
	}
	p.moveOut(j)
	p.out(h)
	p.jobs[h] = job{}
	p.freed = true
}

// vacate removes a running job from its nodes.
func (p *Policy) vacate(j *job) {
	if !j.running {
		return
	}
	p.sweep(j)
	p.pool.Remove(int32(j.spec.Handle))
	p.hold(j, j.at, -1)
	j.running, j.at = false, nil
	p.dirty = true
}

// startFailed requeues a job that could not be launched.
func (p *Policy) startFailed(now batch.Time, h batch.Handle) {
	j := p.known(h)
	if j.stranded { // its node went down during the launch
		p.stopped(now, &batch.Event{Kind: batch.Stopped, Job: h})
		return
	}
	if !j.running {
		panic(fmt.Sprintf("dfrs: job %d was not started", h))
	}
	p.vacate(j)
	p.moveOut(j)
	j.settle(now, 0)
	j.virtual, j.part = j.before, 0
	p.again(now, h)
}

// again remaps a job that has left all its nodes.
func (p *Policy) again(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	if j.state == placed {
		p.displace(j)
	} else {
		p.unwait(j)
	}
	p.wait(now, h)
	p.arrives(h)
	p.freed = true
}

// stopped records that a job has left the nodes it held, as ordered or by the driver.
func (p *Policy) stopped(now batch.Time, ev *batch.Event) {
	j := p.known(ev.Job)
	requested := len(j.gone) > 0
	if !requested && !j.running && (j.home == nil || ev.Checkpoint) {
		panic(fmt.Sprintf("dfrs: job %d was not stopped", ev.Job))
	}
	if requested {
		p.leave(j, -1)
		if j.running { // elsewhere
			return
		}
	} else {
		p.vacate(j)
		j.settle(now, 0)
	}
	j.ran = ev.Checkpoint
	if !ev.Checkpoint {
		p.moveOut(j)
	}
	stranded := j.stranded
	j.stranded = false
	if !requested || stranded {
		p.lose(j, ev)
		p.again(now, ev.Job)
		return
	}
	if !ev.Checkpoint && j.state == waiting {
		p.unwait(j)
		p.lose(j, ev)
		p.wait(now, ev.Job)
		return
	}
	p.lose(j, ev)
}

// lose resets the virtual time of a job that restarts from scratch.
func (p *Policy) lose(j *job, ev *batch.Event) {
	if !ev.Checkpoint {
		j.virtual, j.part = 0, 0
	}
}
