package farm

import (
	"math/bits"
	"slices"
)

// Row is one job's row of the matrix. The entry for a machine is Base plus its cell if the
// cell is positive, otherwise 0: not eligible.
type Row struct {
	// Columns are the machines that the job is eligible for, ascending.
	Columns []int32
	// Cells has an element for each machine: at least 1 for those of Columns, else 0.
	Cells []Points
	// Base is the points common to all eligible machines; never negative.
	Base Points
	// Cleared says that pre-matching has discarded the job: all entries count as 0 until the
	// next pass.
	Cleared bool

	// Slowest and Fastest are the lowest and the highest score of Columns; 0 if Columns is
	// empty.
	Slowest, Fastest int32

	// Stale says that Columns must be chosen again, because the job is new, or the job or
	// the farm has changed. Choose resets it.
	Stale bool
	// Keys are the inputs from which the heuristics computed the cells, in the heuristics'
	// order; empty if the cells must be computed in any case.
	Keys []Key

	order     int64
	cpus      int32
	memory    int64
	reference int32
	held      int32 // the machine that holds it, or NoMachine
	needs     []Need
	input     []Input
}

// Key is the input of a heuristic's part of a row's cells, besides the farm, the row's
// Columns, and the Reference and the Input of its job. The zero Key means that the
// heuristic has no part in the cells.
type Key [2]uint64

// At returns the entry for a machine.
func (r *Row) At(machine int32) Points {
	if c := r.Cells[machine]; c > 0 && !r.Cleared {
		return r.Base + c
	}
	return 0
}

// Mean returns the mean of the positive entries, rounded down, as if the row were not
// cleared; 0 if there are none. It is the value of a job in pre-matching.
func (r *Row) Mean() Points {
	n := uint64(len(r.Columns))
	if n == 0 {
		return 0
	}
	var hi, lo, carry uint64
	for _, c := range r.Columns {
		lo, carry = bits.Add64(lo, uint64(r.Cells[c]), 0)
		hi += carry
	}
	mean, _ := bits.Div64(hi, lo, n)
	return r.Base + Points(mean)
}

// Choose sets Columns to the machines that the job is eligible for, ascending, and their
// entries to 1 unit.
func (r *Row) Choose(s *State, columns []int32) {
	for _, c := range r.Columns {
		r.Cells[c] = 0
	}
	r.Columns = append(r.Columns[:0], columns...)
	r.Slowest, r.Fastest = 0, 0
	for _, c := range columns {
		score := s.Machines[c].Score
		if r.Slowest == 0 || score < r.Slowest {
			r.Slowest = score
		}
		r.Fastest = max(r.Fastest, score)
	}
	r.Stale, r.Keys, r.Base = false, r.Keys[:0], 0
	r.Reset()
}

// Reset makes the cells of all eligible machines 1 unit.
func (r *Row) Reset() {
	for _, c := range r.Columns {
		r.Cells[c] = 1
	}
}

// fits reports whether the row was made for a job with exactly these needs.
func (r *Row) fits(j *Job) bool {
	return r.cpus == j.CPUs && r.memory == j.Memory && r.reference == j.Reference && r.held == j.holder() &&
		slices.Equal(r.needs, j.Licenses) && slices.Equal(r.input, j.Input)
}

// take makes it the row of a job with these needs.
func (r *Row) take(j *Job) {
	r.cpus, r.memory, r.reference, r.held = j.CPUs, j.Memory, j.Reference, j.holder()
	r.needs = append(r.needs[:0], j.Licenses...)
	r.input = append(r.input[:0], j.Input...)
}

// widen sizes the row's cells to the number of machines.
func (r *Row) widen(machines int) {
	if len(r.Cells) == machines {
		return
	}
	r.Columns = r.Columns[:0]
	if cap(r.Cells) < machines {
		r.Cells = make([]Points, machines)
		return
	}
	r.Cells = r.Cells[:machines]
	clear(r.Cells)
}
