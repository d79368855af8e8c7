package dfrs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
)

// A resident job has its home on the nodes where it started: its memory is booked there,
// in all three books, until it ends or restarts from scratch. Pausing it frees only CPU,
// which can be shared anyway. So only a mapping of all jobs does that, on a node with more
// such jobs than can have the least yield.

// moveIn sets the home of a resident job that has just started.
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

// moveOut removes the home of a job that has ended or restarts from scratch.
func (p *Policy) moveOut(j *job) {
	if j.home == nil {
		return
	}
	enter(p.left, j, j.home, 1)
	enter(p.held, j, j.home, -1)
	if j.state != placed { // otherwise removing its target does that
		enter(p.free, j, j.home, 1)
	}
	j.home = nil
	p.homed--
	p.machines++ // other jobs may fit now
	p.freed = true
}

// enter adds the memory of tasks to a book with an entry for each node.
func enter(book []int64, j *job, places []place, sign int64) {
	for _, at := range places {
		book[at.Node] += sign * int64(at.Tasks) * j.groups[at.Group].Memory
	}
}

// beside returns the memory beside the jobs with homes. Callers must not change it.
func (p *Policy) beside() []int64 {
	if p.left != nil {
		return p.left
	}
	return slices.Repeat([]int64{p.machine.Memory}, int(p.machine.Nodes))
}

// homesFirst moves jobs with a home to the front of p.order, where no packing drops them,
// because dropping them would free no memory. A job that cannot have the least yield
// beside the others at home is paused. It returns the number of jobs at the front.
func (p *Policy) homesFirst(now batch.Time) int {
	p.machine.Taken = nil
	if p.homed == 0 {
		return 0
	}
	p.machine.Taken = make([]int64, p.machine.Nodes)
	for n, left := range p.left {
		p.machine.Taken[n] = min(p.machine.Memory-left, p.machine.Memory) // measured memory may exceed it
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

// seat adds the smallest CPU share of a job at its home, if there is room.
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

// withoutMemory returns the groups without memory, for jobs with memory that is taken anyway.
func withoutMemory(groups []pack.Group) []pack.Group {
	bare := slices.Clone(groups)
	for i := range bare {
		bare[i].Memory = 0
	}
	return bare
}
