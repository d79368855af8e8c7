package server

import (
	"testing"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func TestAJobAtAnotherSiteUsesACopy(t *testing.T) {
	_, lyon, paris := pair(t, "")
	d := lyon.put(t, "content", persistentMode)
	request := &droverv1.Request{Service: "copy", Arguments: arguments{"from": handle(d.GetId())}}
	_, err := paris.client.Submit(within(t), &droverv1.SubmitRequest{JobId: newID(t), Request: request})
	if _, p := detail(t, err); p.GetReason() != "unknown-data" {
		t.Fatalf("before it was brought: %v", p)
	}
	if _, err := paris.bring(within(t), &droverv1.CopyDataRequest{Id: d.GetId()}); err != nil {
		t.Fatal(err)
	}
	j := paris.submit(t, request)
	paris.until(t, j.GetId(), droverv1.JobState_JOB_STATE_DONE)
	if got, err := paris.download(within(t), j.GetId(), "to", 0); err != nil || string(got) != "content" {
		t.Errorf("output: %q, %v", got, err)
	}
}

func TestAJobIsMovedWithItsDataUnlessTheyAreSticky(t *testing.T) {
	_, lyon, paris := pair(t, "")
	lyon.meets(t, "paris")
	block := lyon.submit(t, &droverv1.Request{Service: "block", Width: 4})
	lyon.until(t, block.GetId(), droverv1.JobState_JOB_STATE_RUNNING)
	d, sticky := lyon.put(t, "content", persistentMode), lyon.put(t, "stays", stickyMode)
	id := newID(t)
	bound := lyon.submit(t, &droverv1.Request{Service: "copy", Arguments: arguments{"from": handle(sticky.GetId())}})
	free := lyon.submit(t, keeps(handle(d.GetId()), "to", id, persistentMode))
	back := &droverv1.MoveJobRequest{JobId: bound.GetId(), To: "paris", MinGain: seconds(-1000)}
	_, err := lyon.client.MoveJob(within(t), back)
	if _, p := detail(t, err); p.GetReason() != "not-movable" {
		t.Errorf("a job with sticky data: %v", p)
	}
	if _, err := lyon.client.MoveJob(within(t), &droverv1.MoveJobRequest{JobId: free.GetId(), To: "paris", MinGain: seconds(-1000)}); err != nil {
		t.Fatal(err)
	}
	lyon.until(t, free.GetId(), droverv1.JobState_JOB_STATE_GONE)
	paris.until(t, free.GetId(), droverv1.JobState_JOB_STATE_DONE)
	if got, err := paris.download(within(t), free.GetId(), "to", 0); err != nil || string(got) != "content" {
		t.Errorf("output: %q, %v", got, err)
	}
	if !paris.has(t, id) || lyon.has(t, id) {
		t.Error("what it wrote is not kept where it ran")
	}
}
