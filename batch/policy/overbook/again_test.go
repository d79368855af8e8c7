package overbook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Two jobs must leave for a third one, and one of them takes longer. The job that has left does
// not get the free processors again, and the third one does not wait behind it.
func TestAPreemptedJobDoesNotRestartWhileAnotherIsLeaving(t *testing.T) {
	const s = batch.Time(batch.Second)
	p := policy(t, 2, quarter)
	for _, spec := range []*batch.Job{
		{
			Handle: 1, Owner: "honest", Shape: batch.Shape{Width: 2, Walltime: 5 * batch.Second}, EarliestStart: 8 * s,
			Agreed: true, Deadline: 20 * s,
		},
		{
			Handle: 2, Owner: "u", Shape: batch.Shape{Width: 1, Walltime: 10 * batch.Second}, Agreed: true,
			Deadline: 100 * s, Checkpoint: true,
		},
		{
			Handle: 3, Owner: "u", Shape: batch.Shape{Width: 1, Walltime: 10 * batch.Second}, Agreed: true,
			Deadline: 100 * s,
		},
	} {
		p.Apply(0, &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: spec})
	}
	decide := func(now batch.Time, want ...batch.Decision) {
		t.Helper()
		var out batch.Decisions
		p.Decide(now, &out)
		if diff := cmp.Diff(want, out.List); diff != "" {
			t.Errorf("at %d (-want +got):\n%s", now/s, diff)
		}
	}
	decide(0, batch.Decision{Kind: batch.Start, Job: 2}, batch.Decision{Kind: batch.Start, Job: 3})
	decide(8*s, batch.Decision{Kind: batch.Pause, Job: 2}, batch.Decision{Kind: batch.Kill, Job: 3})
	p.Apply(8*s+100, &batch.Event{Kind: batch.Stopped, Job: 2, Checkpoint: true, Progress: 8 * batch.Second})
	decide(8*s + 100)
	decide(9*s + 100)
	p.Apply(9*s+200, &batch.Event{Kind: batch.Finish, Job: 3})
	decide(9*s+200, batch.Decision{Kind: batch.Start, Job: 1})
	p.Apply(13*s, &batch.Event{Kind: batch.Finish, Job: 1})
	decide(13*s, batch.Decision{Kind: batch.Resume, Job: 2})
	p.Apply(14*s, &batch.Event{Kind: batch.Finish, Job: 2})
	if c := p.Counts(); c.Kept != 2 || c.Shortened != 1 || c.Paused != 1 || c.Killed != 1 {
		t.Errorf("%+v", c)
	}
}

// A restarted driver knows the earlier progress of a job.
func TestAJobResumedFromACheckpointIsNotOverbookedAgain(t *testing.T) {
	const s = batch.Time(batch.Second)
	p := policy(t, 2, quarter)
	for _, spec := range []*batch.Job{
		{
			Handle: 1, Owner: "honest", Shape: batch.Shape{Width: 2, Walltime: 5 * batch.Second}, EarliestStart: 8 * s,
			Agreed: true, Deadline: 20 * s,
		},
		{
			Handle: 2, Owner: "u", Shape: batch.Shape{Width: 2, Walltime: 10 * batch.Second}, Done: 3 * batch.Second,
			Agreed: true, Deadline: 100 * s, Checkpoint: true,
		},
	} {
		p.Apply(0, &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: spec})
	}
	var out batch.Decisions
	p.Decide(0, &out)
	p.Decide(8*s, &out)
	p.Apply(12*s, &batch.Event{Kind: batch.Finish, Job: 1})
	p.Decide(12*s, &out)
	want := []batch.Decision{{Kind: batch.Start, Job: 1}, {Kind: batch.Start, Job: 2}}
	if diff := cmp.Diff(want, out.List); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.Apply(22*s, &batch.Event{Kind: batch.Finish, Job: 2}) // it has had its thirteen seconds
	if c := p.Counts(); c.Overbooked != 0 || c.Kept != 1 || c.Outran != 1 {
		t.Errorf("%+v", c)
	}
}

// The provider pays for a job that cannot be paused in a conflict.
func TestAJobWithAFailedCheckpointCountsAsShortened(t *testing.T) {
	const s = batch.Time(batch.Second)
	p := policy(t, 2, quarter)
	for _, spec := range []*batch.Job{
		{Handle: 1, Owner: "honest", Shape: batch.Shape{Width: 2, Walltime: 5 * batch.Second}, EarliestStart: 8 * s},
		{
			Handle: 2, Owner: "u", Shape: batch.Shape{Width: 2, Walltime: 10 * batch.Second}, Agreed: true,
			Deadline: 100 * s, Checkpoint: true,
		},
	} {
		p.Apply(0, &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: spec})
	}
	var out batch.Decisions
	p.Decide(0, &out)
	p.Decide(8*s, &out)
	p.Apply(9*s, &batch.Event{Kind: batch.Finish, Job: 2, Broken: true})
	if c := p.Counts(); c.Paused != 0 || c.Killed != 1 || c.Shortened != 1 || c.Kept != 0 {
		t.Errorf("%+v", c)
	}
}
