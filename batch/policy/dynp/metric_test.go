package dynp

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// measured returns the metrics of a plan of tasks; times are in seconds.
func measured(now batch.Time, tasks []task, starts []batch.Time) map[string]float64 {
	p := &Policy{tasks: tasks}
	all := map[string]float64{}
	for n, m := range metrics {
		all[n] = p.measure(now, &plan{starts: starts}, m)
	}
	return all
}

const s = batch.Time(batch.Second)

// Job a: width 2, 10 s, submitted at 0, starts at 5: response 15, slowdown 1.5, area 20. Job b:
// width 1, 4 s, submitted at 3, starts at 15: 16, 4, 4. Now is 5.
func TestMetricsMatchThePapersEquations(t *testing.T) {
	tasks := []task{
		{shape: batch.Shape{Width: 2, Walltime: 10 * batch.Second}, arrival: 0},
		{shape: batch.Shape{Width: 1, Walltime: 4 * batch.Second}, arrival: 3 * s},
	}
	for n, want := range map[string]float64{
		"ART":      (15. + 16) / 2,
		"ARTwA":    (20.*15 + 4*16) / 24,
		"ARTwW":    (2.*15 + 1*16) / 3,
		"SLD":      (1.5 + 4) / 2,
		"SLDwA":    (20*1.5 + 4*4) / 24,
		"SLDwW":    (2*1.5 + 1*4) / 3,
		"makespan": 19 - 5, // counted from now
	} {
		if got := measured(5*s, tasks, []batch.Time{5 * s, 15 * s})[n]; math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s %v, want %v", n, got, want)
		}
	}
}

// SLDwA = ARTwW × sum of widths / sum of areas.
func TestEquation2Holds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "jobs")
		tasks, starts := make([]task, n), make([]batch.Time, n)
		var widths, areas float64
		for i := range tasks {
			tasks[i].arrival = batch.Time(rapid.Int64Range(0, 1e12).Draw(t, "arrival"))
			starts[i] = tasks[i].arrival + batch.Time(rapid.Int64Range(0, 1e12).Draw(t, "wait"))
			tasks[i].shape = batch.Shape{
				Width:    rapid.Int32Range(1, 1e6).Draw(t, "width"),
				Walltime: batch.Duration(rapid.Int64Range(1, 1e12).Draw(t, "walltime")),
			}
			widths += float64(tasks[i].shape.Width)
			areas += float64(tasks[i].shape.Width) * tasks[i].shape.Walltime.Seconds()
		}
		all := measured(0, tasks, starts)
		if want := all["ARTwW"] * widths / areas; math.Abs(all["SLDwA"]-want) > 1e-9*want {
			t.Fatalf("SLDwA %v, by equation 2 %v", all["SLDwA"], want)
		}
	})
}
