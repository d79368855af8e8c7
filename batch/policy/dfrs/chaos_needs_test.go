package dfrs_test

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
)

// begin records the nodes of a resident job.
func (j *claim) begin() {
	if j.spec.Resident && j.home == nil {
		j.home = j.at
	}
}

func alike(a, b batch.NodeAllocation) bool {
	return a.Node == b.Node && a.Group == b.Group && a.Processors == b.Processors
}

// nodeless reports whether an allocation includes a node that is down.
func (w *world) nodeless(places []batch.NodeAllocation) bool {
	return slices.ContainsFunc(places, func(l batch.NodeAllocation) bool { return w.down[l.Node] })
}

// measure draws new needs of a group, with which the job still fits the machine.
func (w *world) measure(h batch.Handle, s step) {
	j := w.jobs[h]
	needs := slices.Clone(j.needs)
	if needs == nil {
		if needs = slices.Clone(j.spec.Groups); needs == nil {
			needs = []batch.TaskGroup{{Tasks: j.spec.Shape.Width, CPU: j.spec.CPU, Memory: j.spec.Memory}}
		}
	}
	group := s.Which % len(needs)
	needs[group].CPU = s.CPU
	if s.Memory > 0 {
		needs[group].Memory = int64(s.Memory)
	}
	if dfrs.Validate(w.platform, &batch.Job{Shape: j.spec.Shape, Groups: needs}) != nil {
		return
	}
	j.needs = needs
	w.tell(batch.Event{Kind: batch.Measured, Job: h, Group: int32(group), CPU: s.CPU, Memory: int64(s.Memory)})
	for n := range w.over {
		w.over[n], _ = w.used(int32(n))
	}
}

// settled checks the state when no job is moving: no job has more CPU than it can use, and
// where more memory is taken than exists, no job could leave.
func (w *world) settled() {
	for _, j := range w.jobs {
		if j.state == "leaving" || j.old != nil || j.lost {
			return
		}
	}
	for h, j := range w.jobs {
		for _, l := range j.at {
			memory, cpu := w.need(j, l)
			if l.Share > cpu {
				w.t.Fatalf("at %d job %d has %+v and can use %d\n%v", w.now, h, l, cpu, w.log)
			}
			if taken, _ := w.used(l.Node); j.home == nil && memory > 0 && taken > w.platform.Nodes[l.Node].Memory {
				w.t.Fatalf("at %d node %d has %d bytes taken, and job %d is there\n%v", w.now, l.Node, taken, h, w.log)
			}
		}
	}
}
