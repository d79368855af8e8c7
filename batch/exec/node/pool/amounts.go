package pool

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// taskOf is a task in the words of a host.
func taskOf(t *TaskSpec, worth cgroup.CPU) node.TaskSpec {
	return node.TaskSpec{ID: node.ID(t.ID), Spec: t.Spec, CPU: amount(t.Spec.Allocation, worth), Memory: memory(&t.Spec)}
}

// amount is what allocation are of the processors of a host; at least something, as 0 would
// be no limit.
func amount(allocation []batch.NodeAllocation, worth cgroup.CPU) cgroup.CPU {
	sum := int64(0)
	for _, l := range allocation {
		sum += int64(l.Processors) * int64(l.Share)
	}
	whole, rest := sum>>20, sum&(1<<20-1)
	return max(1, cgroup.CPU(whole)*worth+cgroup.CPU(rest)*worth>>20)
}

// memory is what a process may have: as much as its tasks were said to need, and no
// limit where that is not known of one of them.
func memory(spec *exec.Spec) int64 {
	sum := int64(0)
	for _, l := range spec.Allocation {
		each := spec.Memory
		if int(l.Group) < len(spec.Groups) {
			each = spec.Groups[l.Group].Memory
		}
		if each == 0 {
			return 0
		}
		sum += int64(l.Processors) * each
	}
	return sum
}
