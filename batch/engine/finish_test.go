package engine_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
)

// A driver with remote processes reports their ends itself. The engine books the processors until
// then, and gives them to the next job.
func TestEndlessJobEndsByFinish(t *testing.T) {
	platform := batch.Processors(1)
	p, err := fcfs.New(platform, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := startsOf{}
	e := engine.New(p, got, engine.NewLedger(platform))
	for h := batch.Handle(1); h <= 2; h++ {
		e.Submit(&batch.Job{Handle: h, Shape: batch.Shape{Width: 1, Walltime: batch.Second}}, batch.Forever)
	}
	e.Pass()
	e.Advance(batch.Time(5 * batch.Second))
	e.Pass()
	if len(got) != 1 {
		t.Fatalf("started: %v", got)
	}
	e.Finish(1)
	e.Pass()
	if got[2] != 5 || len(got) != 2 {
		t.Errorf("started: %v", got)
	}
}
