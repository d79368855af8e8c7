package matching

// enter lets an unmatched job compete. It finds the longest path from the job: to a free
// machine, or to a job of lower worth, which becomes unmatched. If there is no such path, the
// job stays unmatched.
//
//	job ─▶ machine ─▶ its job ─▶ machine ─▶ ... ─▶ a free machine (odd)
//	                                        ... ─▶ its job becomes unmatched (even)
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
	// Raise the price of each machine that is nearer than the end by the difference. Each job
	// on the path then prefers its new machine.
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

// level raises all prices by the smallest gain of a matched job if no machine is free, and
// returns that gain. It shortens paths: without it, each path would visit all machines that are
// nearer than the job with the smallest gain.
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

// enterTree starts a tree with one job.
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

// offer is a job's gain on its best and on its second-best machine, negative if there is none.
type offer struct {
	best, second int64
	machine      int32
}

// bid returns a job's best machines; of equal ones the lower index comes first.
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
