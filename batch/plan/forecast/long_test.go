package forecast

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// mixed returns shapes of 1 to 64 processors and at most 10 hours.
func mixed(n int) []batch.Shape {
	r := rand.New(rand.NewPCG(1, 1))
	shapes := make([]batch.Shape, n)
	for i := range shapes {
		shapes[i] = batch.Shape{Width: 1 << r.IntN(7), Walltime: batch.Minute * batch.Duration(1+r.IntN(600))}
	}
	return shapes
}

// recorded returns the first shapes of a recorded workload, and its machine.
func recorded(t *testing.T, name string, n int) ([]batch.Shape, int32) {
	path, err := swf.FindTrace(name + ".swf.gz")
	if missing := (*swf.TraceNotFoundError)(nil); errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	trace, err := swf.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	procs, _ := trace.Header.Procs()
	var shapes []batch.Shape
	for i := range trace.Jobs {
		j := &trace.Jobs[i]
		s := batch.Shape{
			Width: max(j.ReqProcs, j.UsedProcs), Walltime: batch.Duration(max(j.ReqTime, j.Run)) * batch.Second,
		}
		if s.Width > 0 && s.Width <= int32(procs) && s.Walltime > 0 && len(shapes) < n {
			shapes = append(shapes, s)
		}
	}
	return shapes, int32(procs)
}

// All jobs arrive at once, and shapes of all sizes are estimated at the end of the queue.
// doc.go documents the error.
func TestTheErrorOfLongQueuesIsAsDocumented(t *testing.T) {
	const jobs = 10_000
	check := func(t *testing.T, processors int32, shapes []batch.Shape) {
		t.Helper()
		l := newLine(t, processors, shapes).come(len(shapes))
		job, whole, bounded := &batch.Job{}, Forecaster{exact: jobs}, Forecaster{}
		out := make([]batch.Estimate, 1)
		answer := func(f *Forecaster, s batch.Shape) float64 {
			f.Estimate(0, l.p, []batch.Ask{{Job: job, Shapes: []batch.Shape{s}}}, out)
			return float64(out[0].Starts[0])
		}
		end := answer(&whole, batch.Shape{Width: processors, Walltime: 1})
		sum, n, worst, least := 0.0, 0, 0.0, 0.0
		for width := int32(1); width <= processors; width *= 2 {
			for _, walltime := range []batch.Duration{10 * batch.Minute, 2 * batch.Hour, 10 * batch.Hour} {
				s := batch.Shape{Width: width, Walltime: walltime}
				off := (answer(&bounded, s) - answer(&whole, s)) / end
				sum, worst, least, n = sum+max(off, -off), max(worst, off), min(least, off), n+1
			}
		}
		t.Logf("off by %.3f on average, %.3f to %.3f, of the time until all have started", sum/float64(n), least, worst)
		if mean := sum / float64(n); least < -0.05 || mean > 0.4 {
			t.Errorf("too early by up to %.3f of the time until all have started, and off by %.3f on average", -least,
				mean)
		}
	}
	t.Run("mixed", func(t *testing.T) { check(t, 640, mixed(jobs)) })
	for _, name := range []string{
		"KTH-SP2-1996-2", "SDSC-SP2-1998-4.2-cln", "CTC-SP2-1996-3.1-cln",
		"HPC2N-2002-2.2-cln",
	} {
		t.Run(name, func(t *testing.T) {
			shapes, procs := recorded(t, name, jobs)
			check(t, procs, shapes)
		})
	}
}

// BenchmarkALongQueue estimates a job behind many others: after only new jobs arrived at the
// end, and after a job left.
func BenchmarkALongQueue(b *testing.B) {
	shapes := mixed(100_001)
	for _, exact := range []int{1000, 2000, 4000} {
		for _, replan := range []bool{false, true} {
			b.Run(fmt.Sprintf("exact=%d/replan=%v", exact, replan), func(b *testing.B) {
				l := newLine(b, 640, shapes).come(len(shapes) - 1)
				last := &l.specs[len(shapes)-1]
				f := Forecaster{exact: exact}
				asks, out := []batch.Ask{{Job: &batch.Job{}, Shapes: []batch.Shape{last.Shape}}},
					make([]batch.Estimate, 1)
				b.ReportAllocs()
				for b.Loop() {
					f.front.waiting = 0 // as after an arrival
					if replan {
						f.front.revision--
					}
					f.Estimate(0, l.p, asks, out)
				}
			})
		}
	}
}
