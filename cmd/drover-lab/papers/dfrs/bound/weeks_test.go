package bound

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// halves is HPC2N's capacity in half nodes.
const halves = 240

// hpc2n is the log by weeks of submission, without those without a job.
// A job takes up half a node for each processor: as many tasks that need half a
// node, or half as many that need a whole one.
func hpc2n(t testing.TB) [][]Job {
	t.Helper()
	path, err := swf.FindTrace("HPC2N-2002-2.2-cln.swf.gz")
	if err != nil {
		t.Skip(err)
	}
	trace, err := swf.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const week = 604_800
	var weeks [][]Job
	for _, j := range trace.Jobs {
		for int64(len(weeks)) <= j.Submit/week {
			weeks = append(weeks, nil)
		}
		weeks[j.Submit/week] = append(weeks[j.Submit/week], Job{
			Release: batch.Time(j.Submit) * batch.Time(batch.Second),
			Length:  batch.Duration(max(j.Run, 0)) * batch.Second,
			Rate:    int64(max(j.ReqProcs, 1)),
		})
	}
	return slices.DeleteFunc(weeks, func(w []Job) bool { return len(w) == 0 })
}

// Without a free interval the network of a week is the paper's own.
func TestLeavingOutFreeIntervalsChangesNothingInRealWeeks(t *testing.T) {
	if testing.Short() {
		t.Skip("networks of whole weeks")
	}
	weeks := hpc2n(t)
	if len(weeks) != 182 {
		t.Errorf("%d weeks, want the paper's 182", len(weeks))
	}
	checked := 0
	for i, jobs := range weeks {
		if len(jobs) > 800 {
			continue
		}
		in, err := prepare(jobs, halves, 10*batch.Second)
		if err != nil {
			t.Fatal(err)
		}
		s := newSearch(in)
		low, high, err := s.run()
		if err != nil {
			t.Fatal(err)
		}
		if low > one {
			checked++
			if whole(t, s, low) {
				t.Errorf("week %d: %d/2^20 is possible and said to be too small", i, low)
			}
		}
		if !whole(t, s, high) {
			t.Errorf("week %d: %d/2^20 is not possible and said to be so", i, high)
		}
	}
	if checked < 3 {
		t.Errorf("only %d weeks have a bound above 1", checked)
	}
}

// whole reports whether a stretch is possible without peeling.
func whole(t *testing.T, s *search, stretch int64) bool {
	s.windows.set(&s.in, stretch)
	s.peel.set(&s.in, s.windows)
	clear(s.peel.free)
	for i, j := range s.in.jobs {
		s.peel.left[i] = j.length
	}
	s.cells.set(&s.in, s.windows, &s.peel)
	ok, err := s.busy()
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// BenchmarkWeeks bounds all weeks of the log, as many at a time as the machine
// has cores.
func BenchmarkWeeks(b *testing.B) {
	weeks := hpc2n(b)
	for _, cores := range []int{1, 2} {
		b.Run(fmt.Sprintf("cores=%d", cores), func(b *testing.B) {
			for b.Loop() {
				var next atomic.Int64
				var all sync.WaitGroup
				for range cores {
					all.Go(func() {
						for i := next.Add(1) - 1; i < int64(len(weeks)); i = next.Add(1) - 1 {
							if _, err := MaxStretch(weeks[i], halves, 10*batch.Second); err != nil {
								b.Error(err)
							}
						}
					})
				}
				all.Wait()
			}
		})
	}
}
