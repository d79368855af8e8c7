package pool

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

func TestAmountsAreThoseOfAllTasks(t *testing.T) {
	half := []batch.NodeAllocation{{Processors: 3, Share: batch.One / 2}, {Processors: 1, Share: batch.One}}
	for _, c := range []struct {
		allocation []batch.NodeAllocation
		worth      cgroup.CPU
		want       cgroup.CPU
	}{
		{half, cgroup.Processor, 5 * cgroup.Processor / 2},
		{half, cgroup.Processor / 4, 5 * cgroup.Processor / 8},
		{[]batch.NodeAllocation{{Processors: 1, Share: 1}}, cgroup.Processor / 4, 1}, // 0 would be no limit
		{[]batch.NodeAllocation{{Processors: batch.MaxProcessors, Share: batch.One}}, cgroup.Processor, batch.MaxProcessors << 20},
	} {
		if got := amount(c.allocation, c.worth); got != c.want {
			t.Errorf("%v at %d: %d, want %d", c.allocation, c.worth, got, c.want)
		}
	}
}

func TestMemoryIsLimitedOnlyWhereItIsKnownOfEachTask(t *testing.T) {
	groups := []batch.TaskGroup{{Memory: 10}, {Memory: 0}}
	both := []batch.NodeAllocation{{Processors: 2}, {Processors: 3, Group: 1}}
	for want, spec := range map[int64]exec.Spec{
		35: {Allocation: both, Memory: 7},
		20: {Allocation: both[:1], Memory: 7, Groups: groups},
		0:  {Allocation: both, Memory: 7, Groups: groups},
	} {
		if got := memory(&spec); got != want {
			t.Errorf("%+v: %d, want %d", spec, got, want)
		}
	}
}
