package matching

// Row is what one job is worth on each machine: Base plus the cell where the cell is
// positive, and nothing, not eligible, where it is 0. No Cells at all: it is eligible
// for no machine. Rows come in order of submission. They are only read, and only during
// a call, so rows that are alike may share their cells.
//
// An entry counts as Limit at most.
type Row struct {
	Base  int64
	Cells []int64 // an element for each machine
}

// Free is the row of a machine that nobody is on.
const Free int32 = -1

// Limit is the largest entry that counts fully among so many machines: sums over a
// matching, times a few, stay below 2^62.
func Limit(machines int) int64 { return 1 << 56 / int64(machines+1) }

// At returns the entry for a machine.
func (r *Row) At(machine int32) int64 {
	if r.Cells == nil || r.Cells[machine] <= 0 {
		return 0
	}
	return min(r.Base+r.Cells[machine], Limit(len(r.Cells)))
}
