package overbook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// A live job takes time to leave. No job starts before it has left, and it is preempted once;
// the policy requests passes from time to time, and the next job starts when the preempted one
// has left.
func TestNoJobStartsBeforeThePreemptedJobHasLeft(t *testing.T) {
	const s = batch.Time(batch.Second)
	p := policy(t, 2, quarter)
	submit := func(h batch.Handle, owner string, from, walltime, due batch.Time) {
		p.Apply(0, &batch.Event{Kind: batch.Submit, Job: h, Spec: &batch.Job{
			Handle: h, Owner: owner, Shape: batch.Shape{Width: 2, Walltime: batch.Duration(walltime)},
			EarliestStart: from, Agreed: true, Deadline: due,
		}})
	}
	decide := func(now batch.Time, want ...batch.Decision) {
		t.Helper()
		var out batch.Decisions
		p.Decide(now, &out)
		if diff := cmp.Diff(want, out.List); diff != "" {
			t.Errorf("at %d (-want +got):\n%s", now/s, diff)
		}
	}
	wake := func(want batch.Time) {
		t.Helper()
		if got := p.Wake(); got != want {
			t.Errorf("wants a pass at %d, want %d", got, want)
		}
	}
	submit(1, "honest", 8*s, 5*s, 20*s)
	submit(2, "u", 0, 10*s, 9*s)
	decide(0, batch.Decision{Kind: batch.Start, Job: 2})
	wake(8 * s)
	decide(8*s, batch.Decision{Kind: batch.Kill, Job: 2})
	stands := func(now batch.Time) batch.Time {
		var out [1]batch.Estimate
		p.Estimate(now,
			[]batch.Ask{{Job: &batch.Job{Handle: 1}, Shapes: []batch.Shape{{Width: 2, Walltime: 5 * batch.Second}}}},
			out[:])
		return out[0].Starts[0]
	}
	if at := stands(8 * s); at != 8*s {
		t.Errorf("job 1 is delayed to %d before the other job has left", at)
	}
	decide(8 * s)
	if at := stands(8 * s); at != 8*s {
		t.Errorf("job 1 is delayed to %d before the other job has left", at)
	}
	wake(9 * s)
	decide(9 * s)
	if now := 9*s + 1; p.Wake() <= now {
		t.Errorf("at %d the policy requests a pass at %d", now, p.Wake())
	}
	if at := stands(9*s + 1); at <= 9*s {
		t.Errorf("the estimated start of job 1 is %d", at)
	}
	p.Apply(9*s+2, &batch.Event{Kind: batch.Finish, Job: 2})
	decide(9*s+2, batch.Decision{Kind: batch.Start, Job: 1})
	wake(batch.Never)
	p.Apply(14*s, &batch.Event{Kind: batch.Finish, Job: 1})
	if c := p.Counts(); c.Shortened != 1 || c.Killed != 1 || c.Kept != 1 {
		t.Errorf("%+v", c)
	}
}

// A job that was stopped without a checkpoint restarts.
func TestAJobWithAFailedCheckpointRestarts(t *testing.T) {
	const s = batch.Time(batch.Second)
	p := policy(t, 2, quarter)
	for _, spec := range []*batch.Job{
		{Handle: 1, Owner: "honest", Shape: batch.Shape{Width: 2, Walltime: 5 * batch.Second}, EarliestStart: 8 * s},
		{Handle: 2, Owner: "u", Shape: batch.Shape{Width: 2, Walltime: 10 * batch.Second}, Checkpoint: true},
	} {
		p.Apply(0, &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: spec})
	}
	var log []batch.Decision
	pass := func(now batch.Time) {
		var out batch.Decisions
		p.Decide(now, &out)
		log = append(log, out.List...)
	}
	pass(0)
	pass(8 * s)
	p.Apply(8*s, &batch.Event{Kind: batch.Stopped, Job: 2, Progress: 8 * batch.Second})
	pass(8 * s)
	p.Apply(13*s, &batch.Event{Kind: batch.Finish, Job: 1})
	pass(13 * s)
	want := []batch.Decision{
		{Kind: batch.Start, Job: 2},
		{Kind: batch.Pause, Job: 2},
		{Kind: batch.Start, Job: 1},
		{Kind: batch.Start, Job: 2},
	}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if p.Wake() != batch.Never { // it has all of its time again
		t.Errorf("wants a pass at %d", p.Wake())
	}
	p.Apply(23*s, &batch.Event{Kind: batch.Finish, Job: 2})
}
