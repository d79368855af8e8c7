package matching

// tree is a tree of alternating paths over machines. The job that moves to a machine comes from
// the previous machine in the tree, or is unmatched.
type tree struct {
	dist []int64 // the worth of the best start minus that of the path so far
	from []int32 // the previous machine, or Free
	open []int32 // machines without a final distance
	done []int32 // machines with a final distance, in this order
}

// grow makes the distance of the machine at a position of open final, and shortens the
// distances of others by paths on which its job moves to them. It returns the position of the
// next machine.
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
			// No step improves a path. Outdated prices can claim otherwise, and such claims
			// must not accumulate.
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

// nearest returns the position of the nearest machine, or -1.
func (s *Solver) nearest() int {
	next, nearest := -1, never
	for k, to := range s.open {
		if d := s.dist[to]; d < nearest || d == nearest && next >= 0 && to < s.open[next] {
			next, nearest = k, d
		}
	}
	return next
}

// shift moves each job on the path to the next machine, up to end, and returns the first
// machine of the path, which is then free.
func (s *Solver) shift(end int32) int32 {
	for s.from[end] != Free {
		before := s.from[end]
		s.put(s.on[before], end)
		end = before
	}
	s.on[end] = Free
	return end
}
