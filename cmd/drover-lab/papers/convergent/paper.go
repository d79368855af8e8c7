package convergent

import "github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"

// What the paper has as numbers: G. Capannini, R. Baraglia, D. Puppini, L. Ricci,
// M. Pasquali, "A Job Scheduling Framework for Large Computing Farms", SC07, table 1. Of
// its figures only what its text says is known.

// paperKnapsack is one side of a row of table 1: milliseconds, and license usage.
type paperKnapsack struct{ time, smallest, mean, best float64 }

// paperTable1 has branch and bound, and the greedy, by license ratio.
var paperTable1 = []struct {
	ratio         farm.Range
	exact, greedy paperKnapsack
}{
	{farm.Range{Low: 40, High: 45}, paperKnapsack{496.53, 0.57, 0.87, 1}, paperKnapsack{11.23, 0.54, 0.82, 1}},
	{farm.Range{Low: 45, High: 50}, paperKnapsack{353.51, 0.62, 0.88, 1}, paperKnapsack{10.40, 0.59, 0.84, 1}},
	{farm.Range{Low: 50, High: 55}, paperKnapsack{331.28, 0.64, 0.89, 1}, paperKnapsack{10.42, 0.62, 0.87, 1}},
	{farm.Range{Low: 55, High: 60}, paperKnapsack{556.96, 0.64, 0.88, 1}, paperKnapsack{11.90, 0.63, 0.87, 1}},
}
