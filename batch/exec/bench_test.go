package exec

import (
	"context"
	"strconv"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// rounds submits jobs by the hundred, waits for the news of their ends, and
// reports jobs per second.
func rounds(b *testing.B, s *System, run batch.Program) {
	b.Helper()
	const jobs = 100
	var at batch.Cursor
	var n int
	for b.Loop() {
		for range jobs {
			n++
			do(b, s, submission(strconv.Itoa(n), 1, run))
		}
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
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkHundredProcesses runs real short programs.
func BenchmarkHundredProcesses(b *testing.B) {
	rounds(b, open(b, Config{}), batch.Program{Args: []string{"/bin/true"}})
}

// BenchmarkHundredWithoutProcess is the loop's own part of it.
func BenchmarkHundredWithoutProcess(b *testing.B) {
	rounds(b, open(b, Config{Launcher: instant{}}), batch.Program{Args: []string{"x"}})
}
