package matching

import (
	"cmp"
	"math/bits"
	"slices"
)

// A Solver matches jobs and machines in one pass after the other and reuses its memory. Its
// zero value is ready. It is not safe for concurrent use.
//
// A plan holds the row on each machine, or Free; its length is the number of machines.
type Solver struct {
	rows  []Row
	bonus int64 // worth of an association beside its entry

	on    []int32 // the plan of this call
	price []int64 // of each machine; kept between calls
	gain  []int64 // of the job on each machine: its entry beyond the price
	at    []int32 // the machine of each row, or Free

	top   []int64 // the largest entry of each row, 0 for none
	order []int32 // rows with an entry, by falling top, then by row

	tree
	labels
	later   []int32 // rows or machines that are handled after others
	clamped []Row
	heap    []candidate
}

const (
	// closed is the price of a machine that is not in the market yet.
	closed int64 = 1 << 60
	// never is longer than any path.
	never int64 = 1 << 62
	// leastBonus is large enough for most farms, so that prices stay comparable between calls.
	leastBonus int64 = 1 << 50
)

// Forget drops the prices of the last call. Call it when rows or machines are renumbered; the
// next result then does not depend on earlier calls.
func (s *Solver) Forget() { s.price = s.price[:0] }

// Fork returns a copy that gives the same results from here on.
func (s *Solver) Fork() *Solver {
	return &Solver{bonus: s.bonus, price: slices.Clone(s.price)}
}

// begin prepares everything except the prices.
func (s *Solver) begin(rows []Row, machines int) {
	s.rows = rows
	s.on = fill(s.on, machines, Free)
	s.gain = fill(s.gain, machines, 0)
	s.at = fill(s.at, len(rows), Free)
	s.rank(machines)
}

// end releases the caller's rows.
func (s *Solver) end() { s.rows = nil }

// rank computes the largest entry of each row, the order by it, and the bonus, which makes more
// associations worth more than better ones.
func (s *Solver) rank(machines int) {
	s.top = fill(s.top, len(s.rows), 0)
	s.order = s.order[:0]
	limit, most := Limit(machines), int64(0)
	over := false
	for i := range s.rows {
		r := &s.rows[i]
		var best int64
		for _, c := range r.Cells {
			best = max(best, c)
		}
		if best <= 0 {
			continue
		}
		s.top[i] = best + r.Base
		if s.top[i] > limit {
			s.top[i], over = limit, true
		}
		most = max(most, s.top[i])
		s.order = append(s.order, int32(i))
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		if s.top[a] != s.top[b] {
			return cmp.Compare(s.top[b], s.top[a])
		}
		return cmp.Compare(a, b)
	})
	if over {
		s.clamp(limit)
	}
	s.bonus = max(leastBonus, 1<<bits.Len64(uint64(most)*uint64(machines+1)))
}

// clamp copies rows with entries above the limit.
func (s *Solver) clamp(limit int64) {
	s.clamped = append(s.clamped[:0], s.rows...)
	s.rows = s.clamped
	for _, i := range s.order {
		if s.top[i] < limit {
			break // rows come by falling top
		}
		r := &s.rows[i]
		cells := make([]int64, len(r.Cells))
		for m := range cells {
			cells[m] = r.At(int32(m))
		}
		*r = Row{Cells: cells}
	}
}

// fill returns a slice of n elements equal to x. It reuses the memory of s if possible.
func fill[T any](s []T, n int, x T) []T {
	s = slices.Grow(s[:0], n)[:n]
	for i := range s {
		s[i] = x
	}
	return s
}

// put puts a job on a machine, at the machine's price.
func (s *Solver) put(row, machine int32) {
	s.on[machine] = row
	s.at[row] = machine
	s.settle(machine)
}

// settle sets the gain of a machine's job. It lowers the price if the gain would be negative.
func (s *Solver) settle(machine int32) {
	r := &s.rows[s.on[machine]]
	s.gain[machine] = s.bonus + r.Base + r.Cells[machine] - s.price[machine]
	if s.gain[machine] < 0 {
		s.price[machine] += s.gain[machine]
		s.gain[machine] = 0
	}
}

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
