package cbf_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
)

// drive is a policy with a scripted driver, in seconds.
type drive struct {
	t *testing.T
	p batch.Policy
}

func newDrive(t *testing.T, processors int32) *drive {
	p, err := cbf.New(batch.Processors(processors), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &drive{t, p}
}

func at(s int) batch.Time { return batch.Time(s) * batch.Time(batch.Second) }

func (d *drive) submit(now, job, width, walltime, from int) {
	spec := &batch.Job{
		Handle: batch.Handle(job), EarliestStart: at(from),
		Shape: batch.Shape{Width: int32(width), Walltime: batch.Duration(at(walltime))},
	}
	d.p.Apply(at(now), &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: spec})
}

func (d *drive) finish(now, job int) {
	d.p.Apply(at(now), &batch.Event{Kind: batch.Finish, Job: batch.Handle(job)})
}

// pass checks that exactly the given jobs start, and the next wake-up.
func (d *drive) pass(now, wake int, want ...batch.Handle) {
	d.t.Helper()
	var out batch.Decisions
	d.p.Decide(at(now), &out)
	var got []batch.Handle
	for _, s := range out.List {
		got = append(got, s.Job)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.t.Errorf("starts at %d (-want +got):\n%s", now, diff)
	}
	next := batch.Never
	if wake >= 0 {
		next = at(wake)
	}
	if got := d.p.Wake(); got != next {
		d.t.Errorf("at %d wake at %d, want %d", now, got, next)
	}
}

func TestAnOverrunDelaysThePlanByItsLength(t *testing.T) {
	d := newDrive(t, 2)
	d.submit(0, 1, 1, 5, 0) // runs beyond 5
	d.submit(0, 2, 2, 3, 0) // planned for 5
	d.submit(0, 3, 1, 4, 0) // beside job 1
	d.pass(0, 5, 1, 3)
	d.finish(4, 3)
	d.pass(4, 5)
	d.pass(5, 6) // booked for one more second
	d.pass(6, 7) // over by 1: booked for one more
	d.pass(7, 9) // over by 2: booked for two more
	d.submit(8, 4, 1, 1, 0)
	d.pass(8, 9, 4) // fits before job 2
	d.finish(9, 1)
	d.finish(9, 4)
	d.pass(9, -1, 2)
}

func TestSubmissionsDoNotGetTheTimeOfAnOverrun(t *testing.T) {
	d := newDrive(t, 1)
	d.submit(0, 1, 1, 2, 0)
	d.pass(0, -1, 1)
	d.submit(5, 2, 1, 1, 0) // in the plan the machine has been idle since 2
	d.pass(5, 8)            // over by 3
	d.finish(6, 1)
	d.pass(6, -1, 2)
}

// ask returns the estimated start of a shape, in seconds.
func (d *drive) ask(now, width, walltime int, job batch.Job) batch.Time {
	shape := batch.Shape{Width: int32(width), Walltime: batch.Duration(at(walltime))}
	out := make([]batch.Estimate, 1)
	d.p.Estimate(at(now), []batch.Ask{{Job: &job, Shapes: []batch.Shape{shape}}}, out)
	if out[0].Kind != batch.Promised {
		d.t.Errorf("at %d the estimate is %v", now, out[0].Kind)
	}
	return out[0].Starts[0]
}

func TestEstimatesExcludeAnOverrunAfterTheLastPass(t *testing.T) {
	d := newDrive(t, 2)
	d.submit(0, 1, 1, 2, 0)
	d.pass(0, -1, 1)
	if got := d.ask(5, 2, 1, batch.Job{}); got != at(8) { // in the plan the machine has been idle since 2
		t.Errorf("two processors are promised from %d, want 8 s", got)
	}
	if got := d.ask(5, 1, 1, batch.Job{}); got != at(5) {
		t.Errorf("the other processor is promised from %d, want 5 s", got)
	}
	d.pass(5, -1) // the estimate has no side effects
}

func TestAnOverrunDelaysAPlannedJob(t *testing.T) {
	d := newDrive(t, 2)
	d.submit(0, 1, 1, 1, 0)
	d.submit(0, 2, 2, 2, 12) // planned for 12
	d.pass(0, 12, 1)
	d.submit(10, 3, 1, 1, 0)
	d.pass(10, 19, 3) // job 1 is over by 9
}

func TestALateDriverStartsOnlyJobsThatFit(t *testing.T) {
	d := newDrive(t, 1)
	d.submit(0, 1, 1, 5, 0)
	d.submit(0, 2, 1, 2, 0) // planned for 5
	d.submit(0, 3, 1, 2, 0) // planned for 7
	d.pass(0, 5, 1)
	d.finish(10, 1)
	d.pass(10, 12, 2) // both starts have passed: jobs start in order
	d.finish(12, 2)
	d.pass(12, -1, 3)
}

func TestALateStartDelaysConflictingJobs(t *testing.T) {
	d := newDrive(t, 1)
	d.submit(0, 1, 1, 5, 0)
	d.submit(0, 2, 1, 5, 0)  // planned for 5-10
	d.submit(0, 3, 1, 2, 11) // planned for 11, a second after job 2
	d.pass(0, 5, 1)
	d.finish(8, 1)
	d.pass(8, 13, 2) // until 13
	d.pass(11, 13)
	d.finish(13, 2)
	d.pass(13, -1, 3)
}

func TestALateStartIntoFreeTimeDelaysNoJob(t *testing.T) {
	d := newDrive(t, 1)
	d.submit(0, 1, 1, 5, 0)
	d.submit(0, 2, 1, 3, 0)  // planned for 5-8
	d.submit(0, 3, 1, 2, 11) // planned for 11
	d.pass(0, 5, 1)
	d.finish(7, 1)
	d.pass(7, 11, 2) // until 10
	d.finish(10, 2)
	d.pass(10, 11)
	d.pass(11, -1, 3)
}

func TestUnknownSettingIsRefused(t *testing.T) {
	_, err := cbf.New(batch.Processors(1), batch.Settings{"depth": "3"})
	if err == nil || err.Error() != `policy cbf: unknown setting "depth", accepted: no settings` {
		t.Errorf("New = %v", err)
	}
}
