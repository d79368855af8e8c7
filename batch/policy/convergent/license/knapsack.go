package license

// Item is a job in the knapsack problem.
type Item struct {
	// Value is the mean of the job's positive entries in the Job-Machine matrix. It is not
	// negative.
	Value int64
	Needs []Need
	// Kept says that the job runs and cannot be preempted. It keeps its licenses, even if such
	// jobs hold more copies than exist.
	Kept bool
}

// A Knapsack solves one problem after the other and reuses its memory. Its zero value is ready.
// It is not safe for concurrent use.
type Knapsack struct {
	room   []int64 // copies available to items that are not kept
	demand []int64 // of items that are neither kept nor discarded
	out    []bool  // discarded items
	never  []bool  // items that do not fit even alone
	over   int     // number of critical licenses
	heap   []ranked
	gone   []int32 // discarded items, in order of discarding
}

// load reads a problem. It gives kept items their copies and discards items that do not fit
// even alone.
func (k *Knapsack) load(items []Item, copies []int64) {
	k.room = append(k.room[:0], copies...)
	k.demand = fill(k.demand, len(copies), 0)
	k.out = fill(k.out, len(items), false)
	k.never = fill(k.never, len(items), false)
	k.gone = k.gone[:0]
	for i := range items {
		if items[i].Kept {
			for _, n := range items[i].Needs {
				k.room[n.License] -= int64(n.Copies)
			}
		}
	}
	for i := range items {
		if items[i].Kept {
			continue
		}
		if !k.fits(items[i].Needs) {
			k.out[i], k.never[i] = true, true
			continue
		}
		for _, n := range items[i].Needs {
			k.demand[n.License] += int64(n.Copies)
		}
	}
	k.over = 0
	for l := range k.demand {
		if k.critical(int32(l)) {
			k.over++
		}
	}
}

// critical reports whether the remaining items request more copies than they can have. A
// license without demand is not critical, even if kept items hold more copies than exist.
func (k *Knapsack) critical(l int32) bool { return k.demand[l] > max(0, k.room[l]) }

// fits reports whether all needs fit into the remaining copies.
func (k *Knapsack) fits(needs []Need) bool {
	for _, n := range needs {
		if int64(n.Copies) > k.room[n.License] {
			return false
		}
	}
	return true
}

// fill returns a slice of n elements equal to x. It reuses the memory of s if possible.
func fill[T any](s []T, n int, x T) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	s = s[:n]
	for i := range s {
		s[i] = x
	}
	return s
}

// Need is a number of copies of a license that a job holds while it runs.
type Need struct {
	License int32 // index, from 0
	Copies  int32 // at least 1
}
