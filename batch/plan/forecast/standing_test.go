package forecast_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/plan/forecast"
	"github.com/seed-9b8f70bb/drover/batch/policy/cbf"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
)

// A reallocation compares with the current starts of waiting jobs, of all in one call.
func TestWaitingJobsAreForecastInTheirPositions(t *testing.T) {
	for name, c := range map[string]struct {
		make  batch.Factory
		plain bool
	}{"fcfs": {fcfs.New, false}, "easy": {easy.New, false}, "easy as no queue": {easy.New, true}, "cbf": {
		cbf.New,
		false,
	}} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				const processors = 8
				p, err := c.make(batch.Processors(processors), nil)
				if err != nil {
					t.Fatal(err)
				}
				seen := observed{}
				e := engine.New(p, seen, engine.NewLedger(batch.Processors(processors)))
				var asks []batch.Ask
				draw := func() batch.Shape {
					return batch.Shape{
						Width:    int32(rapid.IntRange(1, processors).Draw(t, "width")),
						Walltime: batch.Duration(rapid.IntRange(1, 20).Draw(t, "walltime")),
					}
				}
				n := batch.Handle(rapid.IntRange(1, 20).Draw(t, "jobs"))
				specs := make([]batch.Job, n+1)
				for h := batch.Handle(1); h <= n; h++ {
					specs[h] = batch.Job{Handle: h, Shape: draw()}
					e.Submit(&specs[h], specs[h].Shape.Walltime)
				}
				e.Pass()
				for h := batch.Handle(1); h <= n; h++ {
					if _, runs := seen[h]; !runs {
						asks = append(asks, batch.Ask{Job: &specs[h], Shapes: []batch.Shape{specs[h].Shape}})
					}
				}
				// One ask about a new job. It is not submitted: under EASY it could delay
				// jobs other than the first.
				asks = append(asks, batch.Ask{Job: &batch.Job{}, Shapes: []batch.Shape{draw()}})
				out := make([]batch.Estimate, len(asks))
				if c.plain {
					p = opaque{p.(batch.Runnable)}
				}
				var f forecast.Forecaster
				if !f.Estimate(0, p, asks, out) {
					t.Fatal("no answer")
				}
				for e.Next() != batch.Never {
					e.Advance(e.Next())
					e.Pass()
				}
				for i, a := range asks[:len(asks)-1] {
					h := a.Job.Handle
					if out[i].Starts[0] != seen[h] {
						t.Fatalf("job %d: estimated start %d, actual start %d", h, out[i].Starts[0], seen[h])
					}
				}
			})
		})
	}
}
