package dfrs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// A resident job has its home where it has begun: its memory is booked there, in all
// three books, until it ends or has to begin anew. Pausing it gives nobody anything but
// CPU, which can be shared anyway. So only a mapping of all jobs ever does, on a node
// with more such jobs than can have the least yield.

// moveIn gives a resident job that has just begun its home where it is.
func (p *Policy) moveIn(j *job) {
	if !j.spec.Resident || j.home != nil {
		return
	}
	if p.left == nil {
		p.left = slices.Repeat([]int64{p.machine.Memory}, int(p.machine.Nodes))
	}
	j.home = j.at
	p.homed++
	enter(p.left, j, j.home, -1)
}

// moveOut takes its home from a job that has ended or begins anew, and does not run.
func (p *Policy) moveOut(j *job) {
	if j.home == nil {
		return
	}
	enter(p.left, j, j.home, 1)
	enter(p.held, j, j.home, -1)
	if j.state != placed { // else that is done with its target
		enter(p.free, j, j.home, 1)
	}
	j.home = nil
	p.homed--
	p.machines++ // there is room for others
	p.freed = true
}

// enter adds the memory of tasks to a book with an entry for each node.
func enter(book []int64, j *job, places []place, sign int64) {
	for _, at := range places {
		book[at.Node] += sign * int64(at.Tasks) * j.groups[at.Group].Memory
	}
}

// beside returns the memory that those leave who have a home. It is not to be changed.
func (p *Policy) beside() []int64 {
	if p.left != nil {
		return p.left
	}
	return slices.Repeat([]int64{p.machine.Memory}, int(p.machine.Nodes))
}

// homesFirst has those who have a home stand first in p.order, where no packing drops
// them: that would free no memory, which is taken anyway. Who cannot have the least yield
// beside the others at home is paused. It returns how many stand first.
func (p *Policy) homesFirst(now batch.Time) int {
	p.machine.Taken = nil
	if p.homed == 0 {
		return 0
	}
	p.machine.Taken = make([]int64, p.machine.Nodes)
	for n, left := range p.left {
		p.machine.Taken[n] = min(p.machine.Memory-left, p.machine.Memory) // what was measured may be more
	}
	cpu := make([]int64, p.machine.Nodes)
	var first, rest []ranked
	for _, r := range p.order {
		switch j := &p.jobs[r.job]; {
		case j.home == nil:
			rest = append(rest, r)
		case p.seat(j, cpu):
			first = append(first, r)
		case j.state == placed:
			p.unplace(now, r.job)
		}
	}
	p.order = append(append(p.order[:0], first...), rest...)
	return len(first)
}

// seat adds the least that a job takes at home, if there is so much.
func (p *Policy) seat(j *job, cpu []int64) bool {
	fits := true
	for _, at := range j.home {
		cpu[at.Node] += int64(at.Tasks) * pack.Least(j.groups[at.Group].CPU)
		fits = fits && cpu[at.Node] <= p.machine.CPU
	}
	if !fits {
		for _, at := range j.home {
			cpu[at.Node] -= int64(at.Tasks) * pack.Least(j.groups[at.Group].CPU)
		}
	}
	return fits
}

// withoutMemory returns groups whose memory is taken anyway.
func withoutMemory(groups []pack.Group) []pack.Group {
	bare := slices.Clone(groups)
	for i := range bare {
		bare[i].Memory = 0
	}
	return bare
}
