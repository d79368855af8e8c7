package share

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Equal gives each task on a node an equal part of the node's CPU (EquiPartition), at most its
// need; tasks with a smaller need leave the rest to the others. A job's yield is that of its
// task with the lowest yield, and CPU that its other tasks cannot use stays unused. Equal
// returns the jobs with a changed yield, ascending; the list is valid until the next allocation.
func (p *Pool) Equal() []int32 {
	all := p.becomes(equal)
	for i := range p.nodes {
		if n := &p.nodes[i]; n.touched || all {
			p.divide(n)
		}
	}
	p.pass++
	p.changed, p.seeds = p.changed[:0], p.seeds[:0]
	p.survey(all)
	for _, number := range p.seeds {
		if j := &p.jobs[number]; j.in && j.seen != p.pass {
			j.seen = p.pass
			p.set(number, p.worst(j))
		}
	}
	slices.Sort(p.changed)
	return p.changed
}

// divide computes the most that each task on a node gets.
func (p *Pool) divide(n *node) {
	room := p.room(n)
	if n.load <= room {
		n.level = int32(batch.One)
		return
	}
	slices.SortFunc(n.on, func(a, b tenant) int { return int(a.need) - int(b.need) })
	left := int64(0)
	for i := range n.on {
		left += int64(n.on[i].tasks)
	}
	for i := range n.on {
		t := &n.on[i]
		n.level = int32(room / left)
		if int32(t.need) > n.level {
			return
		}
		room -= int64(t.tasks) * int64(t.need)
		left -= int64(t.tasks)
	}
}

// worst returns the lowest yield of a job's tasks.
func (p *Pool) worst(j *job) batch.Share {
	yield := batch.One
	for _, stay := range j.at {
		if n := &p.nodes[stay.node]; int32(stay.need) > n.level {
			yield = min(yield, batch.Share(int64(n.level)<<20/int64(stay.need)))
		}
	}
	return yield
}
