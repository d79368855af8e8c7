package dynp

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// order compares two jobs by the processors that they take and their walltimes: below 0
// the first is planned first, 0 the one submitted first.
type order func(a, b batch.Shape) int

// orders are the policies by name. FCFS has no order but that of submission.
var orders = map[string]order{
	"FCFS": nil,
	"SJF":  func(a, b batch.Shape) int { return cmp.Compare(a.Walltime, b.Walltime) },
	"LJF":  func(a, b batch.Shape) int { return cmp.Compare(b.Walltime, a.Walltime) },
	"SAF":  compareAreas,
	"LAF":  func(a, b batch.Shape) int { return compareAreas(b, a) },
	"NJF":  func(a, b batch.Shape) int { return cmp.Compare(a.Width, b.Width) },
	"WJF":  func(a, b batch.Shape) int { return cmp.Compare(b.Width, a.Width) },
}

// Orders returns the names of all policies: first come, shortest, longest, smallest
// area, largest area, narrowest, widest job first.
func Orders() []string { return slices.Sorted(maps.Keys(orders)) }

func compareAreas(a, b batch.Shape) int {
	x, y := batch.AreaOf(a.Width, a.Walltime), batch.AreaOf(b.Width, b.Walltime)
	switch {
	case x.Less(y):
		return -1
	case y.Less(x):
		return 1
	}
	return 0
}
