package heuristic

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Aging is the paper's anti-aging: all entries of a job grow by Weight (AA) for each Unit since
// its submission, rounded down, up to farm.Ceiling. At the paper's 0.02 per second the ceiling
// is reached after three years.
type Aging struct {
	Weight Constant
	Unit   batch.Duration // 0: a second
	now    batch.Time
	unit   uint64
}

// Name returns "aging".
func (a *Aging) Name() string { return "aging" }

// Begin reads the clock of the state.
func (a *Aging) Begin(s *farm.State, _ *farm.Matrix) {
	a.now, a.unit = s.Now, uint64(a.Unit)
	if a.Unit == 0 {
		a.unit = uint64(batch.Second)
	}
}

// Look returns the points for the age of a job, 0 for one that is submitted later.
func (a *Aging) Look(j *farm.Job, _ *farm.Row) (farm.Points, farm.Key) {
	if a.now <= j.Submit {
		return 0, farm.Key{}
	}
	age := uint64(a.now - j.Submit)
	hi, lo := bits.Mul64(age, uint64(a.Weight)) // millionths of a point, times the unit
	if hi >= a.unit {
		return farm.Ceiling, farm.Key{}
	}
	whole, rest := bits.Div64(hi, lo, a.unit)
	if whole >= uint64(farm.Ceiling>>20)*uint64(One) {
		return farm.Ceiling, farm.Key{}
	}
	// Keep the remainder, so that the sum is rounded once.
	hi, lo = bits.Mul64(rest, uint64(farm.Point))
	part, _ := bits.Div64(hi, lo, a.unit)
	return farm.Points((whole*uint64(farm.Point) + part) / uint64(One)), farm.Key{}
}

// Write does nothing: aging is the same on all machines.
func (a *Aging) Write(*farm.Job, *farm.Row) {}

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
