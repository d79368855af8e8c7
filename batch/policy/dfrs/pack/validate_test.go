package pack

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestValidateNamesTheFieldAndTheAcceptedValues(t *testing.T) {
	fine := Group{Tasks: 2, CPU: batch.One, Memory: 60}
	for name, tc := range map[string]struct {
		change func(*Machine, *Job)
		want   string // part of the message, or empty
	}{
		"no change": {func(*Machine, *Job) {}, ""},
		"nodes": {func(m *Machine, _ *Job) {
			m.Nodes = -1
		}, "machine: Nodes is -1, accepted: 0.."},
		"too many nodes": {func(m *Machine, _ *Job) { m.Nodes = maxNodes + 1 }, "machine: Nodes is"},
		"zero CPU":       {func(m *Machine, _ *Job) { m.CPU = 0 }, "machine: CPU is 0"},
		"total CPU": {
			func(m *Machine, _ *Job) { m.Nodes, m.CPU = 5, maxCPU/4 }, "machine: CPU is",
		},
		"memory": {func(m *Machine, _ *Job) { m.Memory = -1 }, "machine: Memory is -1"},
		"total memory": {
			func(m *Machine, _ *Job) { m.Nodes, m.Memory = 17, maxMemory }, "machine: Memory is",
		},
		"down": {
			func(m *Machine, _ *Job) { m.Down = make([]bool, 3) }, "machine: length of Down is 3, accepted: 4",
		},
		"taken": {
			func(m *Machine, _ *Job) { m.Taken = []int64{0, 1, 2} }, "machine: length of Taken is 3, accepted: 4",
		},
		"taken above the memory of a node": {
			func(m *Machine, _ *Job) { m.Taken = []int64{0, 0, 101, 0} }, "machine: Taken[2] is 101, accepted: 0..100",
		},
		"pinned on taken memory": {func(m *Machine, j *Job) {
			m.Taken = []int64{100, 0, 0, 0}
			j.Pinned = []Placement{{0, 0, 1}, {3, 0, 1}}
		}, "Pinned[0].Tasks is 1"},
		"empty groups": {func(_ *Machine, j *Job) { j.Groups = nil }, "job 0: number of Groups is 0"},
		"flow":         {func(_ *Machine, j *Job) { j.Flow = -1 }, "job 0: Flow is -1"},
		"virtual":      {func(_ *Machine, j *Job) { j.Virtual = -1 }, "job 0: Virtual is -1"},
		"zero tasks": {func(_ *Machine, j *Job) {
			j.Groups[0].Tasks = 0
		}, "Groups[0].Tasks is 0, accepted: 1 or more"},
		"zero need": {func(_ *Machine, j *Job) {
			j.Groups[0].CPU = 0
		}, "Groups[0].CPU is 0, accepted: 1..1048576"},
		"need over one": {
			func(_ *Machine, j *Job) { j.Groups[0].CPU = batch.One + 1 }, "Groups[0].CPU is 1048577",
		},
		"negative memory": {func(_ *Machine, j *Job) { j.Groups[0].Memory = -1 }, "Groups[0].Memory is -1"},
		"memory over a node": {func(_ *Machine, j *Job) {
			j.Groups[0].Memory = 101
		}, "Groups[0].Memory is 101, accepted: 0..100"},
		"memory not counted":  {func(m *Machine, j *Job) { m.Memory, j.Groups[0].Memory = 0, 101 }, ""},
		"more tasks than fit": {func(_ *Machine, j *Job) { j.Groups[0].Tasks = 1 << 30 }, ""},
		"pinned":              {func(_ *Machine, j *Job) { j.Pinned = []Placement{{0, 0, 1}, {3, 0, 1}} }, ""},
		"pinned on an unknown node": {
			func(_ *Machine, j *Job) { j.Pinned = []Placement{{4, 0, 2}} }, "Pinned[0].Node is 4, accepted: 0..3",
		},
		"pinned on a node that is down": {func(m *Machine, j *Job) {
			m.Down = []bool{false, true, false, false}
			j.Pinned = []Placement{{1, 0, 2}}
		}, "Pinned[0].Node is 1, accepted: a node that is up"},
		"pinned unknown group": {
			func(_ *Machine, j *Job) { j.Pinned = []Placement{{0, 1, 2}} }, "Pinned[0].Group is 1, accepted: 0..0",
		},
		"pinned without tasks": {
			func(_ *Machine, j *Job) { j.Pinned = []Placement{{0, 0, 0}} }, "Pinned[0].Tasks is 0",
		},
		"pinned twice": {func(_ *Machine, j *Job) {
			j.Pinned = []Placement{{0, 0, 1}, {0, 0, 1}}
		}, "Pinned[1].Node is 0"},
		"pinned in part": {
			func(_ *Machine, j *Job) {
				j.Pinned = []Placement{{0, 0, 1}}
			}, "number of Pinned tasks of group 0 is 1, accepted: 2",
		},
		"pinned above the memory of a node": {
			func(_ *Machine, j *Job) { j.Pinned = []Placement{{0, 0, 2}} }, "memory of node 0",
		},
		"pinned above the memory of the second node": {func(_ *Machine, j *Job) {
			j.Groups[0].Tasks = 3
			j.Pinned = []Placement{{0, 0, 1}, {1, 0, 2}}
		}, "memory of node 1"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Machine{Nodes: 4, CPU: int64(batch.One), Memory: 100}
			jobs := []Job{{Groups: []Group{fine}}}
			tc.change(m, &jobs[0])
			err := Validate(m, jobs)
			var field *FieldError
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("error %v, want none", err)
			case tc.want != "" && !errors.As(err, &field):
				t.Errorf("error %v, want a *FieldError", err)
			case tc.want != "" && !strings.Contains(err.Error(), tc.want):
				t.Errorf("error %q, want %q in it", err, tc.want)
			}
		})
	}
}

func TestValidateSumsThePinnedMemoryOfAllJobs(t *testing.T) {
	m := &Machine{Nodes: 1, CPU: int64(batch.One), Memory: 100}
	one := Job{Groups: []Group{{Tasks: 1, CPU: batch.One, Memory: 60}}, Pinned: []Placement{{0, 0, 1}}}
	if err := Validate(m, []Job{one, one}); err == nil ||
		!strings.Contains(err.Error(), "job 1: Pinned[0].Tasks is 1") {
		t.Errorf("error %v, want one about job 1", err)
	}
}
