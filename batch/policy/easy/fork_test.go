package easy_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
)

// A pass makes the reservation of the head, which holds until an event other than a submission:
// a fork needs it, too.
func TestForkKeepsTheReservationOfTheHead(t *testing.T) {
	p, err := easy.New(batch.Processors(4), nil)
	if err != nil {
		t.Fatal(err)
	}
	submit := func(p batch.Policy, h batch.Handle, width int32, walltime batch.Duration) int {
		spec := &batch.Job{Handle: h, Shape: batch.Shape{Width: width, Walltime: walltime * batch.Second}}
		p.Apply(0, &batch.Event{Kind: batch.Submit, Job: h, Spec: spec})
		var out batch.Decisions
		p.Decide(0, &out)
		return len(out.List)
	}
	submit(p, 1, 2, 4)
	submit(p, 2, 3, 3) // starts at 4 and leaves one processor
	fork := p.Fork()
	for _, c := range []struct {
		job      batch.Handle
		walltime batch.Duration
		want     int
	}{{3, 10, 1}, {4, 10, 0}, {5, 4, 1}} { // the extra processor; none left; ends before the shadow time
		if got := submit(fork, c.job, 1, c.walltime); got != c.want {
			t.Errorf("the fork starts %d jobs, want %d, when job %d comes", got, c.want, c.job)
		}
	}
	if got := submit(p, 3, 1, 10); got != 1 {
		t.Errorf("the original starts %d jobs, want 1", got)
	}
}
