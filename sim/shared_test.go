package sim

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Two jobs of a processor on one: each has half of it while both are there. The short
// one needs 20 s, the long one 30 s; no job waits.
func TestJobsThatShareProcessorsAreMeasuredByTheirWork(t *testing.T) {
	w := &Workload{Jobs: []Job{
		{ID: 1, Width: 1, Runtime: 10 * batch.Second, Walltime: batch.Minute},
		{ID: 2, Width: 1, Runtime: 20 * batch.Second, Walltime: batch.Minute},
	}}
	s := &Single{Procs: 1, Policy: "dfrs", Settings: batch.Settings{"algorithm": "Greedy*/opt=min"}, Places: true}
	r, err := s.Replay(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	var ends []float64
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		ends = append(ends, o.End.Sub(0).Seconds())
		if o.Start != 0 || o.Processors != "0" {
			t.Errorf("job %d starts at %d on %q", i+1, o.Start, o.Processors)
		}
	}
	f := &r.Summary.Figures
	if ends[0] != 20 || ends[1] != 30 || f.Utilization != 1 || f.SlowdownMax != 2 || f.WaitMax != 0 {
		t.Errorf("ends %v, utilization %v, slowdown up to %v, wait up to %v", ends, f.Utilization, f.SlowdownMax,
			f.WaitMax)
	}
}

func TestNegativePenaltyIsRefused(t *testing.T) {
	s := &Single{Procs: 1, Policy: "dfrs", Penalty: -1}
	if err := s.Validate(); err == nil {
		t.Error("it is accepted")
	}
}
