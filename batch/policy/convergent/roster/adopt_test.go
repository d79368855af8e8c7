package roster_test

import (
	"fmt"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// A job that was paused when its driver ended runs again beside the job that preempted it. One
// of them must leave, the other keeps the machine, and the one that left continues later.
func TestOneOfSeveralAdoptedJobsKeepsTheMachine(t *testing.T) {
	for name, urgent := range map[string]batch.Handle{"the first": 1, "the second": 2} {
		t.Run(name, func(t *testing.T) {
			r := crowd(t, batch.Platform{
				Nodes: []batch.Node{{Processors: 1}}, Licenses: []batch.LicensePool{{Name: "cad", Copies: 1}},
			}, nil)
			jobs := []batch.Job{{Handle: 1}, {Handle: 2}, {Handle: 3}}
			for i := range jobs {
				jobs[i].Shape, jobs[i].Licenses, jobs[i].Resident = batch.Shape{Width: 1, Walltime: batch.Hour}, cad(1),
					true
			}
			jobs[urgent-1].Deadline = 2 * batch.Time(batch.Hour)
			other := 3 - urgent
			for i := range 2 {
				place := []batch.NodeAllocation{{Node: 0, Processors: 1, Share: batch.One / 2}}
				r.Apply(0, &batch.Event{Kind: batch.Adopt, Job: jobs[i].Handle, Spec: &jobs[i], Allocation: place})
			}
			decides := func(want string) {
				t.Helper()
				var out batch.Decisions
				r.Decide(0, &out)
				got := ""
				for _, d := range out.List {
					got += fmt.Sprintf("%v %d ", d.Kind, d.Job)
				}
				if got != want {
					t.Errorf("decided %q, want %q", got, want)
				}
			}
			decides(fmt.Sprintf("pause %d ", other))
			r.Apply(0, &batch.Event{Kind: batch.Stopped, Job: other, Checkpoint: true})
			decides("")
			r.Apply(0, &batch.Event{Kind: batch.Submit, Job: 3, Spec: &jobs[2]})
			decides("") // the machine is taken, whichever job was first
			r.Apply(0, &batch.Event{Kind: batch.Finish, Job: urgent})
			decides(fmt.Sprintf("resume %d ", other))
		})
	}
}
