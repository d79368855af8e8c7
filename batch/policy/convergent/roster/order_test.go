package roster_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/backfill"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/edf"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// One machine: job 1 runs until 100, job 2 of 50 s waits. A job with a deadline of 40 would be
// first under EDF, and last under EASY.
func TestAnOutlookFollowsThePlannersOrder(t *testing.T) {
	second := batch.Time(batch.Second)
	for name, tc := range map[string]struct {
		planner roster.Planner
		start   batch.Time
	}{
		"EDF":  {edf.New(edf.How{}), 0},
		"EASY": {backfill.New(backfill.EASY, nil), 150 * second},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := roster.New(batch.Processors(1), tc.planner)
			if err != nil {
				t.Fatal(err)
			}
			jobs := []batch.Job{
				{Handle: 1, Shape: batch.Shape{Width: 1, Walltime: 100 * batch.Second}},
				{Handle: 2, Shape: batch.Shape{Width: 1, Walltime: 50 * batch.Second}},
			}
			for i := range jobs {
				r.Apply(0, &batch.Event{Kind: batch.Submit, Job: jobs[i].Handle, Spec: &jobs[i]})
				r.Decide(0, &batch.Decisions{})
			}
			asks := []batch.Ask{{
				Job: &batch.Job{Deadline: 40 * second}, Shapes: []batch.Shape{{Width: 1, Walltime: 20 * batch.Second}},
			}}
			out := make([]batch.Estimate, 1)
			r.Look(0, asks, out)
			if got := out[0].Starts[0]; got != tc.start {
				t.Errorf("it starts at %d s, want %d", got/second, tc.start/second)
			}
		})
	}
}
