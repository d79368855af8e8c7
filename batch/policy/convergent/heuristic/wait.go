package heuristic

import (
	"math"

	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Wait is the wait minimization: Weight (WM of the paper) for a job that is about to end, and
// less the longer it would still run on the machine, down to 0 for the longest:
//
//	WM · (1 - Remaining(i,m) / SupRemaining)
//
// The paper sets SupRemaining "equal to the maximum value of Remaining_i". Here it is the
// largest Remaining(i,m) of all jobs on all their eligible machines: the stated aim is to
// advance jobs with a short remaining time, and a maximum over the machines of one job cannot
// distinguish short jobs from long ones. PerJob selects the other reading, in which only the
// machines' powers count.
//
// The runtime of a job with an estimate without reference is the same on all machines.
type Wait struct {
	Weight Constant
	PerJob bool
	units  float64
	sup    float64
	powers []float64 // 1 / score, by machine
}

// Name returns "wait".
func (w *Wait) Name() string { return "wait" }

// Begin finds the longest remaining time.
func (w *Wait) Begin(s *farm.State, m *farm.Matrix) {
	w.units, w.sup = w.Weight.units(), 0
	if m.Changed() {
		w.powers = w.powers[:0]
		for i := range s.Machines {
			w.powers = append(w.powers, 1/float64(s.Machines[i].Score))
		}
	}
	for i := range s.Jobs {
		if r := m.Row(i); len(r.Columns) > 0 {
			w.sup = max(w.sup, longest(&s.Jobs[i], r))
		}
	}
}

// longest returns the remaining time of a job on its slowest machine.
func longest(j *farm.Job, r *farm.Row) float64 {
	if j.Reference == 0 {
		return work(j)
	}
	return work(j) / float64(r.Slowest)
}

// work returns the remaining work: time, times the score of the reference if there is one.
func work(j *farm.Job) float64 {
	return float64(float64(j.Remaining()) * float64(max(j.Reference, 1)))
}

// Look returns all points if they are the same on all machines, else the factor of the
// machines' powers as the key.
func (w *Wait) Look(j *farm.Job, r *farm.Row) (farm.Points, farm.Key) {
	factor := w.factor(j, r)
	switch {
	case w.Weight == 0:
		return 0, farm.Key{}
	case j.Reference == 0:
		return farm.Points(w.units - factor), farm.Key{}
	case r.Slowest == r.Fastest:
		return farm.Points(w.units - float64(factor*w.powers[r.Columns[0]])), farm.Key{}
	}
	return 0, farm.Key{math.Float64bits(factor), 1}
}

// factor returns WM · work / SupRemaining; a machine loses that divided by its score.
func (w *Wait) factor(j *farm.Job, r *farm.Row) float64 {
	sup := w.sup
	if w.PerJob {
		sup = longest(j, r)
	}
	return float64(w.units * float64(work(j)/sup))
}

// Write adds the points of each machine to its cell.
func (w *Wait) Write(j *farm.Job, r *farm.Row) {
	factor, units, powers, cells := w.factor(j, r), w.units, w.powers, r.Cells
	for _, c := range r.Columns {
		cells[c] += farm.Points(units - float64(factor*powers[c])) // above -1, so not below 0
	}
}
