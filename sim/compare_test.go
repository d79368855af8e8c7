package sim

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// result is a run of jobs 1, 2, ..., submitted at 0, 10, 20, ..., each of which
// runs for 100 s and ends at an instant in seconds; every job of which local says so
// is a local user's.
func compared(ends []float64, local ...bool) *Result {
	w, r := &Workload{}, &Result{}
	for i, end := range ends {
		w.Jobs = append(w.Jobs, Job{ID: int64(i + 1), Submit: batch.Time(i) * 10e6, Local: local[i]})
		r.Outcomes = append(r.Outcomes, Outcome{
			Start: batch.Time((end - 100) * 1e6), End: batch.Time(end * 1e6), Width: 1,
		})
	}
	r.Workload = w
	r.Summary.Figures = measure(w, r.Outcomes, 1, nil)
	grid := measure(w, r.Outcomes, 1, func(i int) bool { return !w.Jobs[i].Local })
	r.Summary.Grid = &grid
	return r
}

// Of six jobs the third is local. Of the others
//
//	job              1      2      4       5      6
//	submitted        0     10     30      40     50
//	ended without  100    400    530     640    150
//	with           100    250    530.9   740    151
//	                    early          later  later, by exactly a second
//	response        -  390→240    -    600→700 100→101
//
// so that three are impacted, one of them early; their response is 1041 over 1090.
func TestComparisonOfSixJobsMatchesHandCalculation(t *testing.T) {
	local := []bool{false, false, true, false, false, false}
	reference := compared([]float64{100, 400, 500, 530, 640, 150}, local...)
	run := compared([]float64{100, 250, 900, 530.9, 740, 151}, local...)
	run.Summary.Reallocation = &ReallocationFigures{
		Rounds: 7, Moves: 6, Questions: 20, Estimates: 40, Later: 3, Kept: 2, LaterMost: 2, BytesMoved: 600,
	}
	got, err := Compare(reference, run)
	if err != nil {
		t.Fatal(err)
	}
	want := Comparison{
		Jobs: 6, GridJobs: 5, Impacted: 3, ImpactedShare: 0.6, Reallocations: 6, ReallocationsShare: 1.2, Early: 1,
		EarlyShare:       1. / 3,
		RelativeResponse: 1041. / 1090,
		ResponseMean:     (100 + 240 + 500.9 + 700 + 101) / 5., ResponseReference: (100 + 390 + 500 + 600 + 100) / 5.,
		WaitMean: (0 + 140 + 400.9 + 600 + 1) / 5., WaitReference: (0 + 290 + 400 + 500 + 0) / 5.,
		BoundedSlowdownMean: (1 + 2.4 + 5.009 + 7 + 1.01) / 5, BoundedSlowdownReference: (1 + 3.9 + 5 + 6 + 1) / 5.,
		Rounds: 7, Questions: 20, Estimates: 40, Later: 3, Kept: 2, LaterMost: 2, BytesMoved: 600,
	}
	if d := cmp.Diff(want, got, aboutEqual); d != "" {
		t.Errorf("comparison (-want +got):\n%s", d)
	}
}

func TestRunComparedWithItselfShowsNoChange(t *testing.T) {
	r := compared([]float64{100, 400}, false, false)
	c, err := Compare(r, r)
	if err != nil || c.Impacted != 0 || c.EarlyShare != 0 || c.RelativeResponse != 1 || c.GridJobs != 2 {
		t.Errorf("%+v %v", c, err)
	}
	none := compared(nil)
	if c, err := Compare(none, none); err != nil || c != (Comparison{RelativeResponse: 1}) {
		t.Errorf("without jobs: %+v %v", c, err)
	}
}

func TestOnlyRunsOfTheSameJobsAreCompared(t *testing.T) {
	reference := compared([]float64{100, 400}, false, false)
	other := compared([]float64{100, 400}, false, false)
	other.Workload.Jobs[1].Type = 3 // of another seed
	for name, run := range map[string]*Result{
		"one more":         compared([]float64{100, 400, 500}, false, false, false),
		"another is local": compared([]float64{100, 400}, false, true), "another type": other,
	} {
		if _, err := Compare(reference, run); !errors.Is(err, ErrOtherWorkload) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
