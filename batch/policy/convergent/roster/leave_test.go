package roster_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/edf"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/roster"
)

// A farm of two machines, the first twice as fast, and one copy of cad. Job 1 takes 100 s on
// the slow machine, holds the copy and runs on the fast one, which leaves at 10 with 20 of the
// 100 s done. Job 2, of 10 s, waits for the copy. At 15 the driver reports the outcome.
func TestAMachineLeavesWithARunningJob(t *testing.T) {
	second := batch.Time(batch.Second)
	for name, tc := range map[string]struct {
		word batch.Event
		want string
		ends batch.Time // planned end of job 1; Never if it does not run
	}{
		"no report": {batch.Event{Kind: batch.NodeDown, Node: 0}, "", 50 * second},
		"finish":    {batch.Event{Kind: batch.Finish, Job: 1}, "start #2 m1", batch.Never},
		"stop with a checkpoint": {
			batch.Event{Kind: batch.Stopped, Job: 1, Checkpoint: true}, "resume #1 m1", 95 * second,
		},
		"stop without a checkpoint": {batch.Event{Kind: batch.Stopped, Job: 1}, "start #1 m1", 115 * second},
		"failed start":              {batch.Event{Kind: batch.StartFailed, Job: 1}, "start #1 m1", 115 * second},
		"return of the machine":     {batch.Event{Kind: batch.NodeUp, Node: 0}, "", 50 * second},
	} {
		t.Run(name, func(t *testing.T) {
			p := batch.Platform{
				Nodes:    []batch.Node{{Name: "a", Processors: 1, Score: 200}, {Name: "b", Processors: 1, Score: 100}},
				Licenses: []batch.LicensePool{{Name: "cad", Copies: 1}},
			}
			r, err := roster.New(p, edf.New(edf.How{}))
			if err != nil {
				t.Fatal(err)
			}
			decides := func(at batch.Time, want string) {
				t.Helper()
				var out batch.Decisions
				r.Decide(at, &out)
				got := []string{}
				for _, d := range out.List {
					line := fmt.Sprintf("%v #%d", d.Kind, d.Job)
					for _, l := range d.Allocation {
						line += fmt.Sprintf(" m%d", l.Node)
					}
					got = append(got, line)
				}
				if strings.Join(got, ", ") != want {
					t.Errorf("at %d: %v, want %q", at/second, got, want)
				}
			}
			jobs := []batch.Job{{Handle: 1}, {Handle: 2}}
			for i, seconds := range []batch.Duration{100, 10} {
				jobs[i].Shape, jobs[i].Reference = batch.Shape{Width: 1, Walltime: seconds * batch.Second}, 100
				jobs[i].Licenses, jobs[i].Checkpoint = cad(1), true
				r.Apply(0, &batch.Event{Kind: batch.Submit, Job: jobs[i].Handle, Spec: &jobs[i]})
			}
			decides(0, "start #1 m0")
			r.Apply(10*second, &batch.Event{Kind: batch.NodeDown, Node: 0})
			decides(10*second, "") // job 1 still holds the copy
			r.Apply(15*second, &tc.word)
			decides(15*second, tc.want)
			if tc.want == "resume #1 m1" {
				r.Apply(15*second, &batch.Event{Kind: batch.Resumed, Job: 1})
			}
			if tc.word.Kind != batch.Finish {
				if got := r.PlannedEnd(1); got != tc.ends {
					t.Errorf("job 1 ends at %d, want %d", got/second, tc.ends/second)
				}
			}
		})
	}
}
