package sim

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-9b8f70bb/drover/batch"
)

// ran is a job and its outcome, in seconds.
func ran(w *Workload, outcomes []Outcome, submit, start, end float64, width int32, killed bool) []Outcome {
	at := func(s float64) batch.Time { return batch.Time(s * 1e6) }
	w.Jobs = append(w.Jobs, Job{ID: int64(len(w.Jobs) + 1), Submit: at(submit), Width: width})
	return append(outcomes, Outcome{Start: at(start), End: at(end), Width: width, Killed: killed})
}

// sixJobs are
//
//	job    1    2     3    4    5    6
//	wait   0   90    84   74   64    0    sum 312
//	resp 100   94    84   76   65    3    sum 422
//	run  100    4     0    2    1    3
//	sld    1   23.5  84   38   65    1    sum 212.5
//	bsld   1    9.4   8.4  7.6  6.5  1    sum 33.9
//	width  2    4     1    1    1    1
//	area 200   16     0    2    1    3    sum 222
func sixJobs() (*Workload, []Outcome) {
	w := &Workload{Rejected: Rejected{TooWide: 2}}
	var o []Outcome
	o = ran(w, o, 10, 10, 110, 2, false)
	o = ran(w, o, 20, 110, 114, 4, false)
	o = ran(w, o, 30, 114, 114, 1, false)
	o = ran(w, o, 40, 114, 116, 1, true)
	o = ran(w, o, 50, 114, 115, 1, false)
	o = ran(w, o, 60, 60, 63, 1, false)
	return w, o
}

var aboutEqual = cmpopts.EquateApprox(1e-12, 1e-12)

func TestFiguresOfSixJobsMatchHandCalculation(t *testing.T) {
	w, outcomes := sixJobs()
	want := Figures{
		Jobs: 6, Rejected: Rejected{TooWide: 2}, Killed: 1,
		Makespan:    106,              // 10 to 116
		Utilization: 222. / (4 * 106), // of 4 processors
		WaitMean:    52,
		WaitMedian:  64, WaitP95: 90, WaitMax: 90, // 0 0 64 74 84 90: ranks 3 and 6
		ResponseMean: 422. / 6, ResponseMedian: 76, ResponseP95: 100, ResponseMax: 100,
		SlowdownMean: 212.5 / 6, SlowdownMedian: 23.5, SlowdownP95: 84, SlowdownMax: 84,
		BoundedSlowdownMean: 33.9 / 6, BoundedSlowdownMedian: 6.5, BoundedSlowdownP95: 9.4, BoundedSlowdownMax: 9.4,
		// 2*100 + 4*94 + 76 + 65 + 3; job 3 has no area.
		SlowdownAreaWeighted: 720. / 222,
	}
	if d := cmp.Diff(want, measure(w, outcomes, 4, nil), aboutEqual); d != "" {
		t.Errorf("figures (-want +got):\n%s", d)
	}
}

func TestSiteFiguresCountItsJobsOnly(t *testing.T) {
	w, outcomes := sixJobs()
	got := measure(w, outcomes, 2, func(i int) bool { return i == 1 || i == 3 })
	want := Figures{
		Jobs: 2, Rejected: w.Rejected, Killed: 1,
		Makespan: 96, Utilization: 18. / (2 * 96), // 20 to 116
		WaitMean: 82, WaitMedian: 74, WaitP95: 90, WaitMax: 90,
		ResponseMean: 85, ResponseMedian: 76, ResponseP95: 94, ResponseMax: 94,
		SlowdownMean: 30.75, SlowdownMedian: 23.5, SlowdownP95: 38, SlowdownMax: 38,
		BoundedSlowdownMean: 8.5, BoundedSlowdownMedian: 7.6, BoundedSlowdownP95: 9.4, BoundedSlowdownMax: 9.4,
		SlowdownAreaWeighted: (4*94 + 76) / 18.,
	}
	if d := cmp.Diff(want, got, aboutEqual); d != "" {
		t.Errorf("figures (-want +got):\n%s", d)
	}
}

func TestFiguresWithoutJobsAreZeroAndValidJSON(t *testing.T) {
	empty := measure(&Workload{}, nil, 4, nil)
	if d := cmp.Diff(Figures{}, empty); d != "" {
		t.Errorf("figures (-want +got):\n%s", d)
	}
	w := &Workload{}
	instant := measure(w, ran(w, nil, 5, 5, 5, 1, false), 4, nil)
	want := Figures{
		Jobs: 1, BoundedSlowdownMean: 1, BoundedSlowdownMedian: 1, BoundedSlowdownP95: 1, BoundedSlowdownMax: 1,
	}
	if d := cmp.Diff(want, instant); d != "" {
		t.Errorf("figures of one job that takes no time (-want +got):\n%s", d)
	}
	for _, f := range []Figures{empty, instant} {
		if _, err := json.Marshal(f); err != nil {
			t.Error(err)
		}
	}
}

func TestPercentilesUseTheNearestRank(t *testing.T) {
	for _, c := range []struct{ n, median, p95 int }{
		{1, 1, 1},
		{2, 1, 2},
		{3, 2, 3},
		{4, 2, 4},
		{10, 5, 10},
		{19, 10, 19},
		{20, 10, 19},
		{21, 11, 20},
		{40, 20, 38},
		{100, 50, 95},
		{101, 51, 96},
	} {
		var s series
		for i := range c.n { // the ranks themselves, in a mixed order
			s.add(float64((i*37)%c.n + 1))
		}
		if c.n%37 == 0 {
			t.Fatal("37 has to mix")
		}
		mean, median, p95, most := s.figures()
		if want := float64(c.n+1) / 2; math.Abs(mean-want) > 1e-9 || most != float64(c.n) {
			t.Errorf("%d values: mean %v, maximum %v, want %v, %d", c.n, mean, most, want, c.n)
		}
		if median != float64(c.median) || p95 != float64(c.p95) {
			t.Errorf("%d values: median %v, p95 %v, want %d, %d", c.n, median, p95, c.median, c.p95)
		}
	}
}

func TestNthMatchesSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(
			rapid.Float64Range(-1e9, 1e9), // hardly ever alike
			rapid.Map(rapid.IntRange(0, 4), func(i int) float64 { return float64(i) }), // often alike
		), 1, 60).Draw(t, "values")
		k := rapid.IntRange(0, len(values)-1).Draw(t, "k")
		sorted := slices.Sorted(slices.Values(values))
		got := nth(values, k)
		if got != sorted[k] {
			t.Fatalf("nth %d is %v, sorted %v", k, got, sorted)
		}
		if values[k] != got {
			t.Fatalf("position %d has %v, not %v", k, values[k], got)
		}
		for i, v := range values {
			if i < k && v > got || i > k && v < got {
				t.Fatalf("%v at %d is on the wrong side of %v at %d", v, i, got, k)
			}
		}
		if again := slices.Sorted(slices.Values(values)); !slices.Equal(again, sorted) {
			t.Fatalf("values %v became %v", sorted, again)
		}
	})
}
