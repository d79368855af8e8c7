package counted_test

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

func TestWindowsAndAgreementsAreRefusedAndNothingElse(t *testing.T) {
	shapes := []batch.Shape{{Width: 1, Walltime: batch.Minute}, {Width: 2, Walltime: batch.Minute}}
	for name, tc := range map[string]struct {
		job     batch.Job
		refused bool
	}{
		"a job":                   {batch.Job{Deadline: 5}, false},
		"a window":                {batch.Job{Window: &batch.Window{Start: 5, End: 9}}, true},
		"a job inside a window":   {batch.Job{Into: 3}, true},
		"a job with an agreement": {batch.Job{Agreed: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var out batch.Estimate
			if got := counted.Refuse(&batch.Ask{Job: &tc.job, Shapes: shapes}, &out); got != tc.refused {
				t.Fatalf("refused: %t", got)
			}
			if !tc.refused {
				return
			}
			if out.Kind != batch.Promised || len(out.Starts) != 2 || out.Starts[0] != batch.Never || out.Starts[1] != batch.Never {
				t.Errorf("%+v, want no start of any shape, for sure", out)
			}
		})
	}
}
