package exec

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// drain watches until so many attempts have ended.
func drain(b *testing.B, s *System, jobs int) {
	b.Helper()
	var at batch.Cursor
	for ended := 0; ended < jobs; {
		got, err := s.Watch(context.Background(), at)
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range got.Jobs {
			if f.Phase == batch.PhaseEnded {
				ended++
			}
		}
		at = got.Next
	}
}

// BenchmarkProcesses runs real short programs from submission to the news of
// their end.
func BenchmarkProcesses(b *testing.B) {
	s := open(b, Config{Retain: 1 << 20})
	run := batch.Program{Args: []string{"/bin/true"}}
	i := 0
	for b.Loop() {
		do(b, s, submission(strconv.Itoa(i), 1, run))
		i++
	}
	drain(b, s, i)
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkJobWithoutProcess is the loop's own part of a job's life.
func BenchmarkJobWithoutProcess(b *testing.B) {
	s := open(b, Config{Launcher: instant{}, Retain: 1 << 24})
	run := batch.Program{Args: []string{"x"}}
	i := 0
	for b.Loop() {
		do(b, s, submission(strconv.Itoa(i), 1, run))
		i++
	}
	drain(b, s, i)
}

// BenchmarkSubmit queues a job behind others and takes it out again.
func BenchmarkSubmit(b *testing.B) {
	s := open(b, Config{Launcher: newFakes(), Grace: 1})
	run := batch.Program{Args: []string{"x"}}
	do(b, s, submission("wide", 4, run))
	i := 0
	for b.Loop() {
		name := strconv.Itoa(i)
		do(b, s, submission(name, 1, run), order(batch.CmdHold, name))
		do(b, s, order(batch.CmdCancel, name))
		i++
	}
}

// BenchmarkPick books and releases on machines of many nodes whose low ones are
// taken.
func BenchmarkPick(b *testing.B) {
	for _, nodes := range []int32{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			a := newAllocator(batch.Processors(nodes))
			a.pick(nodes - 8)
			for b.Loop() {
				a.release(a.pick(4))
			}
		})
	}
}
