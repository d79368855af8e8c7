package dynp_test

import (
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// BenchmarkStep measures a pass with a self-tuning step after a submission, on a full machine
// of CTC's size. The paper's simulator took 6 ms with 22.5 waiting jobs, under the first
// settings.
func BenchmarkStep(b *testing.B) {
	for _, s := range []struct {
		name     string
		settings batch.Settings
	}{
		{"ARTwW", batch.Settings{"metric": "ARTwW"}},
		{"SLDwA", nil},
		{"SLD", batch.Settings{"metric": "SLD"}},
		{"combined", batch.Settings{"metric": "makespan:20,ARTwW:80"}},
		{"all", batch.Settings{"policies": "FCFS,SJF,LJF,SAF,LAF,NJF,WJF"}},
		{"shared", batch.Settings{"list": "shared"}},
	} {
		for _, waiting := range []int{22, 200, 2000} {
			b.Run(fmt.Sprintf("%s/%d", s.name, waiting), func(b *testing.B) {
				p, now := queue(s.settings, 430, waiting)
				steps := p.Tuning().Steps
				spec := &batch.Job{Handle: 1 << 16, Shape: batch.Shape{Width: 400, Walltime: 100 * batch.Hour}}
				var out batch.Decisions
				b.ReportAllocs()
				for b.Loop() {
					now += batch.Time(batch.Microsecond)
					out.Reset()
					p.Apply(now, &batch.Event{Kind: batch.Submit, Job: spec.Handle, Spec: spec})
					p.Decide(now, &out)
					p.Apply(now, &batch.Event{Kind: batch.Cancel, Job: spec.Handle})
				}
				if got := p.Tuning().Steps - steps; got < b.N {
					b.Fatalf("%d steps in %d passes", got, b.N)
				}
			})
		}
	}
}

// BenchmarkEstimate measures an estimate for 64 shapes of a moldable job.
func BenchmarkEstimate(b *testing.B) {
	for _, policy := range []string{"FCFS", "SJF"} {
		for _, waiting := range []int{22, 2000} {
			b.Run(fmt.Sprintf("%s/%d", policy, waiting), func(b *testing.B) {
				p, now := queue(batch.Settings{"policies": policy}, 430, waiting)
				var shapes []batch.Shape
				for w := range int32(64) {
					shapes = append(shapes,
						batch.Shape{Width: w + 1, Walltime: (50 * batch.Hour / batch.Duration(w+1)).CeilSeconds()})
				}
				asks, out := []batch.Ask{{Job: &batch.Job{}, Shapes: shapes}}, make([]batch.Estimate, 1)
				p.Estimate(now, asks, out)
				b.ReportAllocs()
				for b.Loop() {
					p.Estimate(now, asks, out)
				}
			})
		}
	}
}
