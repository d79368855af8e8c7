package farm

// Row is what the matrix holds about one job. The entry for a machine is Base plus its
// cell where the cell is positive, and 0, not eligible, where the cell is 0.
type Row struct {
	// Columns are the machines that the job is eligible for, ascending.
	Columns []int32
	// Cells has an element for each machine: at least 1 for those of Columns, else 0.
	Cells []Points
	// Base is what all eligible machines get alike; never negative.
	Base Points
	// Cleared says that pre-matching has discarded the job: all entries count as 0.
	// A new pass takes that back.
	Cleared bool

	// Slowest and Fastest are the least and the largest score of Columns; 0 if there
	// are none.
	Slowest, Fastest int32
}

// At returns the entry for a machine.
func (r *Row) At(machine int32) Points {
	if c := r.Cells[machine]; c > 0 && !r.Cleared {
		return r.Base + c
	}
	return 0
}
