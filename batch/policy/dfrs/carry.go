package dfrs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// begin is a job that starts, resumes or moves in this pass.
type begin struct {
	kind batch.DecisionKind
	job  batch.Handle
}

// had is a job's allocation before this pass.
type had struct {
	job    batch.Handle
	at     []place
	groups []pack.Group
	yield  batch.Share
}

// carryOut moves jobs toward their targets as far as free memory allows. Decisions that
// free capacity come first, then reductions, starts and increases.
func (p *Policy) carryOut(now batch.Time, out *batch.Decisions) {
	p.begun = p.begun[:0]
	if len(p.pending) > 0 {
		slices.SortFunc(p.pending, func(a, b batch.Handle) int { return int(p.jobs[a].seq - p.jobs[b].seq) })
		p.leaveAll(now, out)
		p.move(now, out)
		p.enter(now)
		p.pending = slices.DeleteFunc(p.pending, func(h batch.Handle) bool {
			j := &p.jobs[h]
			j.pending = j.target != nil && (!j.running || len(j.gone) > 0 || !slices.Equal(j.at, j.target)) ||
				j.target == nil && j.running
			return !j.pending
		})
	}
	p.reweigh(now)
	p.adjust(now)
	if p.dirty && (p.leavers == 0 || len(p.begun) > 0) {
		p.dirty = false
		p.allocate(now)
	} else {
		p.lowered, p.raised = p.lowered[:0], p.raised[:0]
	}
	for _, h := range p.lowered {
		out.Add(batch.SetShare, h, p.locations(h)...)
	}
	p.concede(out)
	for _, b := range p.begun {
		p.jobs[b.job].new = false
		out.Add(b.kind, b.job, p.locations(b.job)...)
	}
	for _, h := range p.raised {
		out.Add(batch.SetShare, h, p.locations(h)...)
	}
}

// concede first reduces the shares of jobs with a single decision that both frees and takes
// capacity: jobs with changed needs, which get less on one node and more on another, and
// jobs that move to a smaller share beside jobs that move to a larger one. No moving job
// gets a node that one of them leaves.
func (p *Policy) concede(out *batch.Decisions) {
	for i := range p.altered {
		was := &p.altered[i]
		j := &p.jobs[was.job]
		if less, more := j.differs(was); less && more && !j.new {
			out.Add(batch.SetShare, was.job, p.least(was)...)
		}
	}
	rises := func(b begin) int {
		if j := &p.jobs[b.job]; b.kind == batch.Migrate && j.yield < j.held {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(p.begun, func(a, b begin) int { return rises(a) - rises(b) })
}

// differs reports whether a job that stays on its nodes has less than before, and more.
func (j *job) differs(was *had) (less, more bool) {
	for _, at := range was.at {
		has, before := portion(j.yield, j.groups[at.Group].CPU), portion(was.yield, was.groups[at.Group].CPU)
		less, more = less || has < before, more || has > before
	}
	return less, more
}

// leaveAll pauses the jobs without a target.
func (p *Policy) leaveAll(now batch.Time, out *batch.Decisions) {
	for _, h := range p.pending {
		if j := &p.jobs[h]; j.target == nil && j.running && len(j.gone) == 0 {
			p.pause(now, h, out)
		}
	}
}

// move migrates jobs with another target, unless other jobs must leave it first; then
// they are paused until it is free.
func (p *Policy) move(now batch.Time, out *batch.Decisions) {
	p.moving = p.moving[:0]
	for _, h := range p.pending {
		if j := &p.jobs[h]; j.target != nil && j.running && len(j.gone) == 0 && !slices.Equal(j.at, j.target) {
			p.moving = append(p.moving, h)
			for _, at := range j.at {
				p.sums[at.Node]++
			}
		}
	}
	// A moving job may still be paused and leave all its nodes: no job goes there.
	kept := p.moving[:0]
	for _, h := range p.moving {
		if j := &p.jobs[h]; p.clear(j) {
			kept = append(kept, h)
		} else {
			p.pause(now, h, out)
		}
	}
	clear(p.sums)
	for _, h := range kept {
		if j := &p.jobs[h]; p.room(j, difference(j.target, j.at)) {
			p.migrate(now, h)
		} else {
			p.pause(now, h, out)
		}
	}
}

// clear reports whether no moving job, or other group of the same job, is still to leave a
// node that a moving job needs.
func (p *Policy) clear(j *job) bool {
	less := difference(j.at, j.target)
	on := func(places []place, node int32) (n int32) {
		for _, at := range places {
			if at.Node == node {
				n++
			}
		}
		return n
	}
	for _, at := range difference(j.target, j.at) {
		if p.sums[at.Node] > on(j.at, at.Node) || on(less, at.Node) > 0 {
			return false
		}
	}
	return true
}

// migrate moves a job; it holds what it leaves until it has left.
func (p *Policy) migrate(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	p.counts.Migrated++
	p.hold(j, difference(j.target, j.at), 1)
	j.gone, j.held = difference(j.at, j.target), j.yield
	p.sweep(j)
	j.at = j.target
	p.leave(j, 1)
	p.enterPool(now, h)
	j.new = true
	j.settle(now, j.yield)
	j.awaited = true
	p.begun = append(p.begun, begin{batch.Migrate, h})
}

// difference returns the tasks of a that are not in b.
func difference(a, b []place) []place {
	var rest []place
	for _, x := range a {
		for len(b) > 0 && (b[0].Node < x.Node || b[0].Node == x.Node && b[0].Group < x.Group) {
			b = b[1:]
		}
		if len(b) > 0 && b[0].Node == x.Node && b[0].Group == x.Group {
			x.Tasks -= b[0].Tasks
		}
		if x.Tasks > 0 {
			rest = append(rest, x)
		}
	}
	return rest
}

// enter starts and resumes jobs on nodes with room.
func (p *Policy) enter(now batch.Time) {
	for _, h := range p.pending {
		j := &p.jobs[h]
		if j.target == nil || j.running || len(j.gone) > 0 || !p.room(j, j.target) {
			continue
		}
		kind := batch.Start
		if j.ran {
			kind = batch.Resume
			if j.pausedAt == now {
				p.counts.Migrated++
				p.counts.Paused--
			}
		}
		j.running, j.at, j.before, j.new = true, j.target, j.virtual, true
		j.settle(now, 0)
		j.awaited = kind == batch.Resume
		p.hold(j, j.at, 1)
		p.moveIn(j)
		p.enterPool(now, h)
		p.begun = append(p.begun, begin{kind, h})
	}
}

// room reports whether nodes have room for a job's tasks and no other job must leave
// first.
func (p *Policy) room(j *job, places []place) bool {
	for i, at := range places {
		need := int64(at.Tasks) * j.groups[at.Group].Memory
		for k := i - 1; k >= 0 && places[k].Node == at.Node; k-- {
			need += int64(places[k].Tasks) * j.groups[places[k].Group].Memory
		}
		if j.home != nil {
			need = 0
		}
		if p.leaving[at.Node] > 0 || p.machine.Memory > 0 && need > 0 && p.held[at.Node]+need > p.machine.Memory {
			return false
		}
	}
	return true
}

// pause pauses a job.
func (p *Policy) pause(now batch.Time, h batch.Handle, out *batch.Decisions) {
	j := &p.jobs[h]
	p.counts.Paused++
	p.depart(now, j, j.at)
	j.running, j.at, j.pausedAt = false, nil, now
	out.Add(batch.Pause, h)
}

// depart turns a job's allocation into one that it still holds while leaving.
func (p *Policy) depart(now batch.Time, j *job, places []place) {
	p.sweep(j)
	p.pool.Remove(int32(j.spec.Handle))
	j.gone, j.held = places, j.yield
	j.settle(now, 0)
	p.leave(j, 1)
	p.dirty = true
}

// enterPool adds a job's allocation to the pool.
func (p *Policy) enterPool(now batch.Time, h batch.Handle) {
	j := &p.jobs[h]
	p.pool.Put(int32(h), j.groups, j.at)
	if p.set.weighs() {
		j.weighed = p.weight(now, j)
		p.pool.Weigh(int32(h), j.weighed)
	}
	p.dirty = true
}

// locations returns a job's allocation with its shares, valid until the next call.
func (p *Policy) locations(h batch.Handle) []batch.NodeAllocation {
	j := &p.jobs[h]
	return p.least(&had{h, j.at, j.groups, j.yield})
}

// least returns a job's previous allocation with the smaller of old and new shares, valid
// until the next call.
func (p *Policy) least(was *had) []batch.NodeAllocation {
	j := &p.jobs[was.job]
	p.where = p.where[:0]
	for _, at := range was.at {
		p.where = append(p.where, batch.NodeAllocation{
			Node: at.Node, Processors: at.Tasks, Group: at.Group,
			Share: min(portion(was.yield, was.groups[at.Group].CPU), portion(j.yield, j.groups[at.Group].CPU)),
		})
	}
	return p.where
}
