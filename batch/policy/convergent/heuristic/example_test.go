package heuristic_test

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/heuristic"
)

// spare leaves machines with many CPUs to the jobs that need them. A new heuristic needs only a
// file like this one and a line in Constants.Heuristics.
type spare struct{ s *farm.State }

func (h *spare) Name() string                        { return "spare" }
func (h *spare) Begin(s *farm.State, _ *farm.Matrix) { h.s = s }

// Look returns no common points. The cells depend only on inputs that recompute a row anyway,
// so the key is constant.
func (h *spare) Look(*farm.Job, *farm.Row) (farm.Points, farm.Key) { return 0, farm.Key{1} }

// Write adds the fraction of the machine's CPUs that the job uses.
func (h *spare) Write(j *farm.Job, r *farm.Row) {
	for _, c := range r.Columns {
		r.Cells[c] += farm.Point * farm.Points(j.CPUs) / farm.Points(h.s.Machines[c].CPUs)
	}
}

func ExampleHeuristic() {
	s := &farm.State{
		Machines: []farm.Machine{{Score: 100, CPUs: 1}, {Score: 100, CPUs: 2}, {Score: 100, CPUs: 8}},
		Jobs: []farm.Job{
			{Order: 1, Estimate: 10, CPUs: 1, Machine: farm.NoMachine, Last: farm.NoMachine},
			{Order: 2, Estimate: 10, CPUs: 2, Machine: farm.NoMachine, Last: farm.NoMachine},
		},
	}
	var m farm.Matrix
	heuristic.Collect(&spare{}).Fill(s, &m)
	for job := range s.Jobs {
		for machine := range s.Machines {
			fmt.Printf("%6.3f", float64(m.At(job, machine))/float64(farm.Point))
		}
		fmt.Println()
	}
	// Output:
	//  1.000 0.500 0.125
	//  0.000 1.000 0.250
}
