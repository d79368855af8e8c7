package sim

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Two machines of four processors: three jobs, so one waits for the first end, though
// there are processors enough. No job has a deadline, so the first one goes first.
func TestAJobOfConvergentHasAMachineToItself(t *testing.T) {
	w := &Workload{Jobs: []Job{
		{ID: 1, Width: 1, Runtime: 10 * batch.Second, Walltime: batch.Minute},
		{ID: 2, Width: 1, Runtime: 20 * batch.Second, Walltime: batch.Minute},
		{ID: 3, Submit: 1, Width: 4, Runtime: 10 * batch.Second, Walltime: batch.Minute},
	}}
	s := &Single{Procs: 8, Node: 4, Policy: "convergent", Places: true}
	r, err := s.Replay(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ start, end float64 }{{0, 10}, {0, 20}, {10, 20}} {
		if o := &r.Outcomes[i]; o.Start.Sub(0).Seconds() != want.start || o.End.Sub(0).Seconds() != want.end {
			t.Errorf("job %d runs from %d to %d, want %v", i+1, o.Start, o.End, want)
		}
	}
	if got := []string{r.Outcomes[0].Processors, r.Outcomes[1].Processors, r.Outcomes[2].Processors}; got[0] != "0" ||
		got[1] != "1" || got[2] != "0" {
		t.Errorf("on nodes %v", got)
	}
}

func TestInvalidMachinesAreRefused(t *testing.T) {
	for want, s := range map[string]Single{
		"node: 4 with policy easy": {Procs: 8, Node: 4, Policy: "easy"},
		"node: 3":                  {Procs: 8, Node: 3, Policy: "convergent"},
		"node: -1":                 {Procs: 8, Node: -1, Policy: "convergent"},
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
