package matching

// enter lets a job that is nowhere compete. It looks for the longest path from it: to a
// machine that nobody is on, or to a job that is worth less than it and has to go, or it
// stays out itself.
//
//	job ─▶ machine ─▶ the job on it ─▶ machine ─▶ ... ─▶ a free machine (odd)
//	                                             ... ─▶ the job on it goes (even)
func (s *Solver) enter(row int32) {
	best := s.bid(row).best
	if best <= 0 {
		return
	}
	if best -= s.level(); best <= 0 {
		return
	}
	s.enterTree(row, best)
	end, ends, stays := Free, best, true
	for next := s.nearest(); next >= 0; {
		m := s.open[next]
		if s.dist[m] >= ends {
			break
		}
		if s.on[m] == Free {
			end, ends, stays = m, s.dist[m], false
			break
		}
		if d := s.dist[m] + s.gain[m]; d < ends {
			end, ends, stays = m, d, false
		}
		next = s.grow(next)
	}
	// What is nearer than the end becomes dearer by the difference, so that all whom
	// the path passes by are content again.
	for _, m := range s.done {
		if by := ends - s.dist[m]; by > 0 {
			s.price[m] += by
			s.gain[m] -= by
		}
	}
	if stays {
		return
	}
	if s.on[end] != Free {
		s.at[s.on[end]] = Free
	}
	s.put(row, s.shift(end))
}

// level raises all prices by the gain of the job that gains least, if nobody can have a
// machine but from somebody else, and returns it. Paths then are short: without it, each
// would go by all machines that are nearer than that job's.
func (s *Solver) level() int64 {
	least := never
	for m, row := range s.on {
		switch {
		case row != Free:
			least = min(least, s.gain[m])
		case s.price[m] < closed:
			return 0
		}
	}
	if least == never || least == 0 {
		return 0
	}
	for m, row := range s.on {
		if row != Free {
			s.price[m] += least
			s.gain[m] -= least
		}
	}
	return least
}

// enterTree begins a tree with one job.
func (s *Solver) enterTree(row int32, best int64) {
	r := &s.rows[row]
	s.open, s.done = s.open[:0], s.done[:0]
	base := best - s.bonus - r.Base
	for m, c := range r.Cells {
		s.dist[m], s.from[m] = never, Free
		if s.price[m] < closed {
			s.open = append(s.open, int32(m))
			if c > 0 {
				s.dist[m] = base + s.price[m] - c
			}
		}
	}
}

// offer is what a job would have beyond the price on the machine that is best for it,
// and on the second best; less than 0 where there is none.
type offer struct {
	best, second int64
	machine      int32
}

// bid looks at the machines as a job sees them; equal ones by index.
func (s *Solver) bid(row int32) offer {
	r := &s.rows[row]
	o := offer{best: -never, second: -never, machine: Free}
	price := s.price[:len(r.Cells)]
	for m, c := range r.Cells {
		if v := c - price[m]; v > o.second && c > 0 {
			if v > o.best {
				o.best, o.second, o.machine = v, o.best, int32(m)
			} else {
				o.second = v
			}
		}
	}
	o.best += s.bonus + r.Base
	o.second += s.bonus + r.Base
	return o
}
