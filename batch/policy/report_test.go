package policy_test

import (
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// With SJF instead of FCFS the second job goes before the first one.
func TestSwitchNamesItsMetrics(t *testing.T) {
	for metric, want := range map[string]string{
		"ART":                  "ART of FCFS, ART of SJF",
		"ARTwW:60,makespan:40": "ARTwW of FCFS, makespan of FCFS, ARTwW of SJF, makespan of SJF",
		"makespan:20,SLDwA:80": "makespan of FCFS, SLDwA of FCFS, makespan of SJF, SLDwA of SJF",
		"SLDwA":                "SLDwA of FCFS, SLDwA of SJF",
	} {
		p, err := policy.New("dynp", batch.Processors(1), batch.Settings{"policies": "FCFS,SJF", "metric": metric})
		if err != nil {
			t.Fatal(err)
		}
		for i, wall := range []batch.Duration{batch.Minute, batch.Hour, batch.Minute} {
			job := &batch.Job{Handle: batch.Handle(i + 1), Shape: batch.Shape{Width: 1, Walltime: wall}}
			p.Apply(0, &batch.Event{Kind: batch.Submit, Job: job.Handle, Spec: job})
		}
		var out batch.Decisions
		p.Decide(0, &out)
		r, says := policy.ReportOf("dynp", p, 1)
		if !says || len(r.Switches) != 1 {
			t.Fatalf("%s: %+v", metric, r)
		}
		var names []string
		for _, v := range r.Switches[0].Values {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
}
