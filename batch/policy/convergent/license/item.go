package license

// Item is a job as the knapsack sees it.
type Item struct {
	// Value is what it is worth to have it run: the mean of its positive entries in
	// the Job-Machine matrix. Not negative.
	Value int64
	Needs []Need
	// Kept says that it runs and cannot be preempted: it has its licenses whatever the
	// others get, even if there are fewer copies than such jobs hold.
	Kept bool
}

// A Knapsack chooses, problem after problem in the memory of those before. Its zero
// value is ready. It is not safe for concurrent use.
type Knapsack struct {
	room   []int64 // copies that those who are not kept may have
	demand []int64 // of those who are not kept and not discarded
	out    []bool  // items that are discarded
	never  []bool  // and those that fit not even alone
	over   int     // licenses that are critical
	heap   []ranked
	gone   []int32 // discarded items, first to last
}

// load takes over a problem: what is kept has its copies, and what fits not even alone
// is discarded.
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

// critical says whether those who are left ask for more than they may have. Where
// nobody asks, it does not matter that those who are kept hold more than there is.
func (k *Knapsack) critical(l int32) bool { return k.demand[l] > max(0, k.room[l]) }

// fits says whether there is room for all needs.
func (k *Knapsack) fits(needs []Need) bool {
	for _, n := range needs {
		if int64(n.Copies) > k.room[n.License] {
			return false
		}
	}
	return true
}

// fill returns a slice of n elements that are all x, in the memory of s if it is enough.
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
