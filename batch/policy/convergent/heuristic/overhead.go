package heuristic

import "github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"

// Overhead is the overhead minimization: the entry of a job and the machine that the
// previous plan gave it grows by Weight (Δ of the paper), if it is still eligible there.
type Overhead struct {
	Weight Constant
	points farm.Points
}

// Name returns "overhead".
func (o *Overhead) Name() string { return "overhead" }

// Begin reads the weight.
func (o *Overhead) Begin(*farm.State, *farm.Matrix) { o.points = o.Weight.points() }

// Look returns a key for the cell of the last machine.
func (o *Overhead) Look(j *farm.Job, r *farm.Row) (farm.Points, farm.Key) {
	if j.Last == farm.NoMachine || r.Cells[j.Last] == 0 {
		return 0, farm.Key{}
	}
	return 0, farm.Key{uint64(j.Last) + 1}
}

// Write adds the points to that cell.
func (o *Overhead) Write(j *farm.Job, r *farm.Row) { r.Cells[j.Last] += o.points }
