package fractional

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

const node = int64(1000) // its memory

// Demand beyond the nodes there are is nobody's fault.
func TestDemandCountsAsFarAsThereAreNodes(t *testing.T) {
	in := &Instance{Set: "made", Nodes: 1, Memory: node}
	for range 3 {
		in.Jobs = append(in.Jobs, Job{Runtime: 20 * batch.Second, Tasks: 1, Need: batch.One})
	}
	in.Jobs = append(in.Jobs, Job{Submit: batch.Time(70 * batch.Second), Tasks: 1, Need: batch.One})
	for _, algorithm := range []string{FCFS, EASY} {
		row, err := Run(t.Context(), in, algorithm, Period, Penalty, Options{Ledger: true})
		if err != nil {
			t.Fatal(err)
		}
		want := Row{
			Case: Case{Set: "made", Algorithm: algorithm, Penalty: Penalty}, Jobs: 4,
			MaxStretch: 3, MeanStretch: (1 + 2 + 3 + 1) / 4., Span: 70 * batch.Second, Work: 60, Demand: 60,
		}
		if row != want {
			t.Errorf("row  %+v\nwant %+v", row, want)
		}
	}
}

func TestAnInstanceThatCannotBeIsRefused(t *testing.T) {
	good := Job{Submit: 5, Runtime: 1, Tasks: 2, Need: batch.One / 2, Memory: 10}
	for field, spoil := range map[string]func(*Job){
		"":        func(*Job) {},
		"submit":  func(j *Job) { j.Submit = 4 },
		"runtime": func(j *Job) { j.Runtime = -1 },
		"need":    func(j *Job) { j.Need = batch.One + 1 },
		"memory":  func(j *Job) { j.Memory = node + 1 },
		"tasks":   func(j *Job) { j.Tasks = 4 },
	} {
		bad := good
		spoil(&bad)
		in := &Instance{Nodes: 3, Memory: node, Jobs: []Job{good, bad}}
		err := in.Validate()
		if e, ok := err.(*JobError); field == "" && err != nil || field != "" && (!ok || e.Field != field || e.Number != 2) {
			t.Errorf("%q: %v", field, err)
		}
	}
	for _, n := range []int32{0, MaxNodes + 1} {
		if err := (&Instance{Nodes: n}).Validate(); err == nil {
			t.Errorf("%d nodes are accepted", n)
		}
	}
}
