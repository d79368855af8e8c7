package swf

import (
	"cmp"
	"slices"
)

// sortBySubmit puts jobs in order of submission, equal times in the order they
// have. Jobs are large and logs out of order rare, so it sorts positions and
// then moves every job once.
func sortBySubmit(jobs []Job) {
	from := make([]int32, len(jobs)) // MaxJobs fits
	for i := range from {
		from[i] = int32(i)
	}
	slices.SortFunc(from, func(a, b int32) int {
		return cmp.Or(cmp.Compare(jobs[a].Submit, jobs[b].Submit), cmp.Compare(a, b))
	})
	// Follow each cycle of the permutation; from[i] == i marks a place as done.
	for start := range from {
		if from[start] == int32(start) {
			continue
		}
		held := jobs[start]
		at := int32(start)
		for {
			next := from[at]
			from[at] = at
			if next == int32(start) {
				jobs[at] = held
				break
			}
			jobs[at] = jobs[next]
			at = next
		}
	}
}
