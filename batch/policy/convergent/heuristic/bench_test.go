package heuristic

import (
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// crowded returns a farm with jobs submitted over the last hours, of which as many run as fit.
func crowded(jobs, machines int) *world {
	w := newWorld(1, machines, 20)
	for range jobs {
		w.s.Now = w.s.Now.Add(4 * batch.Second * 150 / batch.Duration(machines))
		w.submit()
	}
	w.run()
	return w
}

// BenchmarkFill measures one pass. first: of an empty matrix. event: after one end and one
// submission. longest: the same, after a change of the longest remaining time, against which
// all waiting is measured. urgent: the same, with all other jobs in the last phase before their
// deadlines.
func BenchmarkFill(b *testing.B) {
	for _, size := range []struct{ jobs, machines int }{{1500, 150}, {10000, 1000}} {
		name := fmt.Sprintf("%dx%d", size.jobs, size.machines)
		b.Run(name+"/first", func(b *testing.B) {
			w := crowded(size.jobs, size.machines)
			for b.Loop() {
				Collect(Paper().Heuristics()...).Fill(&w.s, new(farm.Matrix))
			}
		})
		b.Run(name+"/event", func(b *testing.B) { benchmarkEvents(b, crowded(size.jobs, size.machines), false) })
		b.Run(name+"/longest", func(b *testing.B) { benchmarkEvents(b, crowded(size.jobs, size.machines), true) })
		b.Run(name+"/urgent", func(b *testing.B) {
			w := crowded(size.jobs, size.machines)
			for i := range w.s.Jobs {
				j := &w.s.Jobs[i]
				j.Deadline = w.s.Now.Add(j.On(400) * 6 / 5)
			}
			benchmarkEvents(b, w, true)
		})
	}
}

func benchmarkEvents(b *testing.B, w *world, longest bool) {
	var m farm.Matrix
	c := Collect(Paper().Heuristics()...)
	// The longest job does not run, so that SupRemaining stays unless the case changes it.
	top := &w.s.Jobs[len(w.s.Jobs)-1]
	top.Estimate, top.CPUs, top.Licenses, top.Machine = 9*batch.Hour, 1, nil, farm.NoMachine
	c.Fill(&w.s, &m)
	written := 0
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		w.advance(batch.Millisecond)
		for i := range w.s.Jobs {
			if longest && w.s.Jobs[i].Estimate > 8*batch.Hour {
				w.s.Jobs[i].Estimate -= batch.Millisecond
			}
		}
		w.end(n * 7 % (len(w.s.Jobs) / 2))
		w.submit()
		b.StartTimer()
		c.Fill(&w.s, &m)
		written += c.Written()
	}
	b.ReportMetric(float64(written)/float64(b.N), "rows/op")
}
