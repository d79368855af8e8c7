package pack

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Limits of a machine. They keep sums over it exact.
const (
	maxNodes  = 1 << 24
	maxCPU    = 1 << 42 // units of all nodes, 4 million processors: that many tasks of one unit can need 2^20 each
	maxMemory = 1 << 58 // bytes of one node
	maxSum    = 1 << 62 // bytes of all nodes
)

// FieldError is an invalid value in a machine or a job.
type FieldError struct {
	Job      int // position among the jobs, or -1: the machine
	Field    string
	Value    int64
	Accepted string
}

// Error names the field, its value and the accepted values.
func (e *FieldError) Error() string {
	where := "machine"
	if e.Job >= 0 {
		where = fmt.Sprintf("job %d", e.Job)
	}
	return fmt.Sprintf("packing: %s: %s is %d, accepted: %s", where, e.Field, e.Value, e.Accepted)
}

// Validate returns a *FieldError for the first invalid value. A job with more tasks than can
// ever fit is valid: the Packer drops it.
func Validate(m *Machine, jobs []Job) error {
	if err := m.validate(); err != nil {
		return err
	}
	pinned := map[int32]int64{} // bytes on each node
	for node, bytes := range m.Taken {
		pinned[int32(node)] = bytes
	}
	for i := range jobs {
		if err := jobs[i].validate(i, m, pinned); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) validate() error {
	refuse := func(field string, value int64, accepted string, args ...any) error {
		return &FieldError{Job: -1, Field: field, Value: value, Accepted: fmt.Sprintf(accepted, args...)}
	}
	switch nodes := int64(m.Nodes); {
	case nodes < 0 || nodes > maxNodes:
		return refuse("Nodes", nodes, "0..%d", int64(maxNodes))
	case m.CPU < 1 || m.CPU > maxCPU/max(nodes, 1):
		return refuse("CPU", m.CPU, "1 or more, and at most %d on all nodes", int64(maxCPU))
	case m.Memory < 0 || m.Memory > maxMemory || m.Memory > maxSum/max(nodes, 1):
		return refuse("Memory", m.Memory, "0..%d, and %d on all nodes", int64(maxMemory), int64(maxSum))
	case m.Down != nil && int64(len(m.Down)) != nodes:
		return refuse("length of Down", int64(len(m.Down)), "%d, one per node, or nil", nodes)
	case m.Taken != nil && int64(len(m.Taken)) != nodes:
		return refuse("length of Taken", int64(len(m.Taken)), "%d, one per node, or nil", nodes)
	}
	for node, bytes := range m.Taken {
		if bytes < 0 || bytes > m.Memory {
			return refuse(fmt.Sprintf("Taken[%d]", node), bytes, "0..%d, the memory of a node", m.Memory)
		}
	}
	return nil
}

func (j *Job) validate(at int, m *Machine, pinned map[int32]int64) error {
	refuse := func(field string, value int64, accepted string, args ...any) error {
		return &FieldError{Job: at, Field: field, Value: value, Accepted: fmt.Sprintf(accepted, args...)}
	}
	switch {
	case len(j.Groups) == 0:
		return refuse("number of Groups", 0, "1 or more")
	case j.Flow < 0:
		return refuse("Flow", int64(j.Flow), "0 or more")
	case j.Virtual < 0:
		return refuse("Virtual", int64(j.Virtual), "0 or more")
	}
	for g := range j.Groups {
		group := &j.Groups[g]
		name := func(field string) string { return fmt.Sprintf("Groups[%d].%s", g, field) }
		switch {
		case group.Tasks < 1:
			return refuse(name("Tasks"), int64(group.Tasks), "1 or more")
		case group.CPU < 1 || group.CPU > batch.One:
			return refuse(name("CPU"), int64(group.CPU), "1..%d", batch.One)
		case group.Memory < 0:
			return refuse(name("Memory"), group.Memory, "0 or more")
		case m.Memory > 0 && group.Memory > m.Memory:
			return refuse(name("Memory"), group.Memory, "0..%d, the memory of a node", m.Memory)
		}
	}
	if len(j.Pinned) == 0 {
		return nil
	}
	return j.validatePins(m, pinned, refuse)
}

// validatePins checks the placements of a pinned job, and adds its memory to what is pinned on
// each node.
func (j *Job) validatePins(m *Machine, pinned map[int32]int64, refuse func(string, int64, string, ...any) error) error {
	tasks := make([]int64, len(j.Groups))
	for i, p := range j.Pinned {
		name := func(field string) string { return fmt.Sprintf("Pinned[%d].%s", i, field) }
		switch {
		case p.Node < 0 || p.Node >= m.Nodes:
			return refuse(name("Node"), int64(p.Node), "0..%d", m.Nodes-1)
		case m.Down != nil && m.Down[p.Node]:
			return refuse(name("Node"), int64(p.Node), "a node that is up")
		case p.Group < 0 || int(p.Group) >= len(j.Groups):
			return refuse(name("Group"), int64(p.Group), "0..%d", len(j.Groups)-1)
		case p.Tasks < 1:
			return refuse(name("Tasks"), int64(p.Tasks), "1 or more")
		case i > 0 && byNode(j.Pinned[i-1], p) >= 0:
			return refuse(name("Node"), int64(p.Node), "each node and group once, in ascending order")
		}
		tasks[p.Group] += int64(p.Tasks)
		if m.Memory == 0 {
			continue
		}
		each := j.Groups[p.Group].Memory
		if each > 0 && int64(p.Tasks) > (m.Memory-pinned[p.Node])/each {
			return refuse(name("Tasks"), int64(p.Tasks), "as many as fit into the free memory of node %d", p.Node)
		}
		pinned[p.Node] += int64(p.Tasks) * each
	}
	for g := range j.Groups {
		if tasks[g] != int64(j.Groups[g].Tasks) {
			return refuse(fmt.Sprintf("number of Pinned tasks of group %d", g), tasks[g], "%d, all of them",
				j.Groups[g].Tasks)
		}
	}
	return nil
}
