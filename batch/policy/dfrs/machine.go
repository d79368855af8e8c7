package dfrs

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/pack"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs/share"
)

// crowd is the largest mean number of tasks of one job on a processor. Each task needs at
// least one of a processor's 2^20 units, which limits the jobs of that many tasks that can
// share it.
const crowd = 1 << 10

// machineOf returns the machine of a platform of equal nodes.
func machineOf(p batch.Platform) (pack.Machine, error) {
	m := pack.Machine{Nodes: int32(len(p.Nodes))}
	for i := range p.Nodes {
		n, first := &p.Nodes[i], &p.Nodes[0]
		if int64(n.Processors)*int64(batch.One) > share.MaxCapacity {
			return m, fmt.Errorf("policy dfrs: nodes[%d].processors: %d, accepted: up to %d on a node", i, n.Processors,
				int64(share.MaxCapacity)/int64(batch.One))
		}
		if n.Processors != first.Processors || n.Memory != first.Memory {
			return m,
				fmt.Errorf("policy dfrs: nodes[%d]: %d processors and %d bytes, accepted: nodes that are all alike, "+
					"as nodes[0] with %d and %d",
					i, n.Processors, n.Memory, first.Processors, first.Memory)
		}
	}
	if len(p.Nodes) > 0 {
		m.CPU, m.Memory = int64(p.Nodes[0].Processors)*int64(batch.One), p.Nodes[0].Memory
	}
	m.Down = make([]bool, m.Nodes)
	return m, nil
}

// JobError is a job that can never run on a machine.
type JobError struct {
	Field    string
	Value    int64
	Accepted string
}

// Error names the field, the value and the accepted range.
func (e *JobError) Error() string {
	return fmt.Sprintf("%s: %d, accepted: %s", e.Field, e.Value, e.Accepted)
}

// Validate checks that a job can run on a platform of equal nodes. The policy itself lets
// a job that does not fit wait for ever. The error is a *JobError.
func Validate(p batch.Platform, spec *batch.Job) error {
	m, err := machineOf(p)
	if err != nil {
		return err
	}
	tasks := spec.Groups
	prefix := func(i int) string { return fmt.Sprintf("groups[%d].", i) }
	if len(tasks) == 0 {
		tasks = []batch.TaskGroup{{Tasks: spec.Shape.Width, Memory: spec.Memory, CPU: spec.CPU}}
		if spec.CPU == 0 {
			tasks[0].CPU = batch.One
		}
		prefix = func(int) string { return "" }
	}
	all, holds := int64(0), capacity(m.Nodes, m.CPU)
	for i, g := range tasks {
		most := int64(m.Nodes)
		all += int64(g.Tasks)
		switch {
		case g.Tasks < 1:
			return &JobError{prefix(i) + "tasks", int64(g.Tasks), "at least 1"}
		case g.CPU < 1 || g.CPU > batch.One:
			return &JobError{prefix(i) + "cpu", int64(g.CPU), fmt.Sprintf("1..%d, which is a whole processor",
				batch.One)}
		case g.Memory < 0 || m.Memory > 0 && g.Memory > m.Memory:
			return &JobError{prefix(i) + "memory", g.Memory, fmt.Sprintf("0..%d, the memory of a node", m.Memory)}
		case m.Memory > 0 && g.Memory > 0 && int64(g.Tasks) > most*(m.Memory/g.Memory):
			return &JobError{prefix(i) + "tasks", int64(g.Tasks), fmt.Sprintf("up to %d with that memory each",
				most*(m.Memory/g.Memory))}
		case all > holds:
			return &JobError{prefix(i) + "tasks", int64(g.Tasks), fmt.Sprintf("up to %d in all, %d for each processor",
				holds, crowd)}
		}
	}
	q := newPolicy(m, defaults)
	j := &job{spec: spec}
	q.describe(j, spec.Shape.Width)
	if !q.possible(j) {
		return &JobError{"groups", int64(len(tasks)), "tasks that fit the nodes' memory together"}
	}
	return nil
}

// possible reports whether a job fits the nodes that are up, beside the memory of jobs
// with homes only.
func (p *Policy) possible(j *job) bool {
	if j.home != nil {
		return p.stand(j.home)
	}
	if j.barred == p.machines {
		return false
	}
	if p.crowds(j) {
		return false
	}
	if len(j.groups) == 1 {
		g := &j.groups[0]
		if g.Memory == 0 {
			return true
		}
		if p.homed == 0 {
			return int64(p.up)*(p.machine.Memory/g.Memory) >= int64(g.Tasks)
		}
		return p.holds(g, p.beside())
	}
	free := p.beside()
	_, ok := p.greedyOn(j, free, make([]int64, p.machine.Nodes))
	return ok
}

// capacity returns the number of tasks of one job that the given number of nodes hold,
// regardless of memory.
func capacity(nodes int32, cpu int64) int64 { return int64(nodes) * cpu >> 20 * crowd }

// crowds reports whether a job has more tasks than the nodes that are up hold.
func (p *Policy) crowds(j *job) bool {
	all := int64(0)
	for i := range j.groups {
		all += int64(j.groups[i].Tasks)
	}
	return all > capacity(p.up, p.machine.CPU)
}

// occupy books a job's target, or frees it with a sign of -1. The memory of a job with a
// home is booked there instead.
func (p *Policy) occupy(j *job, sign int64) {
	for _, at := range j.target {
		g := &j.groups[at.Group]
		if j.home == nil {
			p.free[at.Node] -= sign * int64(at.Tasks) * g.Memory
		}
		p.load[at.Node] += sign * int64(at.Tasks) * int64(g.CPU)
	}
}

// hold books the memory that tasks really use, except for jobs with a home.
func (p *Policy) hold(j *job, places []place, sign int64) {
	if j.home != nil {
		return
	}
	for _, at := range places {
		p.held[at.Node] += sign * int64(at.Tasks) * j.groups[at.Group].Memory
	}
}

// leave books what a job's tasks hold while they leave: memory, and the CPU of their last
// yield. With a sign of -1 both are freed.
func (p *Policy) leave(j *job, sign int64) {
	for _, at := range j.gone {
		p.leaving[at.Node] += int32(sign) * at.Tasks
		amount := int64(at.Tasks) * int64(portion(j.held, j.groups[at.Group].CPU))
		if sign > 0 {
			p.pool.Take(at.Node, amount)
		} else {
			p.pool.Give(at.Node, amount)
		}
	}
	if sign < 0 {
		p.hold(j, j.gone, -1)
		j.gone = nil
		p.leavers--
		p.dirty = true // others can use its CPU
	} else {
		p.leavers++
	}
}

// portion is the share of a task at a yield.
func portion(yield, need batch.Share) batch.Share { return max(1, share.Of(yield, need)) }
