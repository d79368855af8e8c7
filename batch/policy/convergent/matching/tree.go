package matching

// tree is a tree of alternating paths over machines: who goes to a machine comes from
// the machine before it, in the tree, or from outside.
type tree struct {
	dist []int64 // how much less than the best start the path so far is worth
	from []int32 // the machine before, or Free
	open []int32 // machines whose distance is not final
	done []int32 // machines whose distance is, in this order
}

// grow makes the distance of the machine at a position of open final, and shortens
// those of the others by paths on which the job that is there goes to them. It returns
// the position of the next one.
func (s *Solver) grow(at int) int {
	m := s.open[at]
	last := len(s.open) - 1
	s.open[at] = s.open[last]
	s.open = s.open[:last]
	s.done = append(s.done, m)

	r := &s.rows[s.on[m]]
	cells, dist, price := r.Cells, s.dist, s.price
	so := s.dist[m]
	base := so + s.gain[m] - s.bonus - r.Base
	next, nearest := -1, never
	for k, to := range s.open {
		d := dist[to]
		if c := cells[to]; c > 0 {
			// No step makes a path better: only outdated prices say so, and what they
			// say must not add up.
			if by := max(so, base+price[to]-c); by < d {
				d = by
				dist[to], s.from[to] = by, m
			}
		}
		if d < nearest || d == nearest && next >= 0 && to < s.open[next] {
			next, nearest = k, d
		}
	}
	return next
}

// nearest returns the position of the machine that comes first, or -1.
func (s *Solver) nearest() int {
	next, nearest := -1, never
	for k, to := range s.open {
		if d := s.dist[to]; d < nearest || d == nearest && next >= 0 && to < s.open[next] {
			next, nearest = k, d
		}
	}
	return next
}

// shift moves the jobs along the path that ends at a machine, each one machine further,
// and returns the machine where the path begins, which now has nobody.
func (s *Solver) shift(end int32) int32 {
	for s.from[end] != Free {
		before := s.from[end]
		s.put(s.on[before], end)
		end = before
	}
	s.on[end] = Free
	return end
}
