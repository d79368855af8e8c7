package site

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// finished returns an ended job with its estimated and its actual wait and runtime.
func finished(id string, state State, wait, run, waited, ran batch.Duration) *Job {
	const submitted batch.Time = 1_000_000
	started := submitted.Add(waited)
	return &Job{
		ID: batch.JobID(id), State: state, Kept: true, Service: "lu", Submitted: submitted, Started: started,
		Ended:    started.Add(ran),
		Estimate: Quote{Wait: wait, Run: run, Completion: wait + run, Kind: batch.Forecast},
	}
}

func TestAccuracyComparesEstimatesWithActualTimes(t *testing.T) {
	s := &Site{}
	if _, known := s.AccuracyOf("lu"); known {
		t.Error("accuracy is known before the first estimate")
	}
	const sec = batch.Second
	s.addSample(finished("a", Done, 10*sec, 100*sec, 30*sec, 50*sec))    // start +20, end -30, half
	s.addSample(finished("b", Done, 10*sec, 100*sec, 0, 50*sec))         // -10, -60
	s.addSample(finished("c", Killed, 10*sec, 100*sec, 10*sec, 100*sec)) // 0, 0
	s.addSample(finished("d", Failed, 10*sec, 100*sec, 500*sec, sec))    // a failed job says nothing about the estimate
	moved := finished("e", Done, 10*sec, 100*sec, 410*sec, 100*sec)
	moved.Transit = &Transit{Quoted: moved.Submitted.Add(400 * sec)}
	s.addSample(moved) // 0, 0
	placed := finished("f", Done, 10*sec, 100*sec, 500*sec, 100*sec)
	placed.Transit = &Transit{Placed: true}
	s.addSample(placed)
	want := Accuracy{
		Service: "lu", Jobs: 4, Kind: batch.Forecast, Run: batch.One / 2,
		Start: Errors{Bias: 2_500_000, Median: 0, P50: 0, P90: 20 * sec},
		End:   Errors{Bias: -22_500_000, Median: -30 * sec, P50: 0, P90: 60 * sec},
	}
	if diff := cmp.Diff([]Accuracy{want}, s.Accuracy()); diff != "" {
		t.Error(diff)
	}
}

func TestAccuracyCoversTheLastJobs(t *testing.T) {
	s := &Site{}
	for range samplesPerService {
		s.addSample(finished("old", Done, 0, batch.Second, batch.Hour, batch.Second))
	}
	for i := range samplesPerService {
		s.addSample(finished("new", Done, 0, batch.Second, 0, batch.Second))
		if a, _ := s.AccuracyOf("lu"); a.Jobs != samplesPerService ||
			(a.Start.Bias == 0) != (i == samplesPerService-1) {
			t.Fatalf("after %d new jobs: %+v", i+1, a)
		}
	}
}

func TestErrorsMatchASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Int64Range(-1e15, 1e15), 1, 50).Draw(t, "errors")
		in := make([]batch.Duration, len(all))
		for i, v := range all {
			in[i] = batch.Duration(v)
		}
		got := errorsOf(slices.Clone(in))
		count := func(f func(batch.Duration) bool) int {
			n := 0
			for _, d := range in {
				if f(d) {
					n++
				}
			}
			return n
		}
		abs := func(d batch.Duration) batch.Duration { return max(d, -d) }
		n := len(in)
		for name, holds := range map[string]bool{
			"half are no larger":     2*count(func(d batch.Duration) bool { return abs(d) <= got.P50 }) >= n,
			"half are no smaller":    2*count(func(d batch.Duration) bool { return abs(d) >= got.P50 }) >= n,
			"nine in ten not larger": 10*count(func(d batch.Duration) bool { return abs(d) <= got.P90 }) >= 9*n,
			"one in ten not smaller": 10*count(func(d batch.Duration) bool { return abs(d) >= got.P90 }) >= n,
			"half not after median":  2*count(func(d batch.Duration) bool { return d <= got.Median }) >= n,
			"half not before median": 2*count(func(d batch.Duration) bool { return d >= got.Median }) >= n,
			"mean within the extreme": got.Bias >= slices.Min(in)-batch.Duration(n) &&
				got.Bias <= slices.Max(in)+batch.Duration(n),
		} {
			if !holds {
				t.Fatalf("%s: %+v of %v", name, got, in)
			}
		}
	})
}

func TestRatiosOfRuntimesAreExactWhereTheyCanBe(t *testing.T) {
	for _, c := range []struct {
		a, b batch.Duration
		want batch.Share
	}{
		{0, 1, 0},
		{-5, 1, 0},
		{batch.Hour, batch.Hour, batch.One},
		{batch.Hour, 2 * batch.Hour, batch.One / 2},
		{1 << 50, 1 << 49, 2 * batch.One},
		{1 << 50, 1, maxRatio * batch.One},
	} {
		if got := ratio(c.a, c.b); got != c.want {
			t.Errorf("%d over %d: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
