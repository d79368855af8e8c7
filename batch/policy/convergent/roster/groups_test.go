package roster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Two tasks of 3 bytes and one of 4 need 10 bytes: too many for the first machine. All tasks
// run on the second, group by group.
func TestAllTaskGroupsRunOnOneMachine(t *testing.T) {
	p := batch.Platform{Nodes: []batch.Node{{Processors: 4, Memory: 9}, {Processors: 4, Memory: 10}}}
	r := crowd(t, p, nil)
	job := batch.Job{
		Handle: 1, Shape: batch.Shape{Width: 3, Walltime: batch.Minute},
		Groups: []batch.TaskGroup{{Tasks: 2, Memory: 3}, {Tasks: 1, Memory: 4}},
	}
	r.Apply(0, &batch.Event{Kind: batch.Submit, Job: 1, Spec: &job})
	var out batch.Decisions
	r.Decide(0, &out)
	want := []batch.NodeAllocation{
		{Node: 1, Processors: 2, Share: batch.One}, {Node: 1, Processors: 1, Group: 1, Share: batch.One},
	}
	if len(out.List) != 1 || out.List[0].Kind != batch.Start {
		t.Fatalf("decided %+v", out.List)
	}
	if diff := cmp.Diff(want, out.List[0].Allocation); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
