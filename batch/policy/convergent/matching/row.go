package matching

// Row holds a job's entries: Base plus the cell for a positive cell, and not eligible for a
// cell of 0. A row without Cells is eligible for no machine. Rows come in order of submission.
// They are only read, and only during a call, so equal rows can share their cells.
//
// An entry counts as at most Limit.
type Row struct {
	Base  int64
	Cells []int64 // an element for each machine
}

// Free is the row of a free machine.
const Free int32 = -1

// Limit is the largest entry that counts fully with the given number of machines: sums over a
// matching, times a small factor, stay below 2^62.
func Limit(machines int) int64 { return 1 << 56 / int64(machines+1) }

// At returns the entry for a machine.
func (r *Row) At(machine int32) int64 {
	if r.Cells == nil || r.Cells[machine] <= 0 {
		return 0
	}
	return min(r.Base+r.Cells[machine], Limit(len(r.Cells)))
}
