package matching

// admit adds a free machine to the market by the longest path to it. The path starts at an
// unmatched job or, if free is set, at a machine that becomes free because the path is worth
// more.
//
//	an unmatched job ─▶ machine ─▶ its job ─▶ ... ─▶ the machine
//	   (free) a machine ─▶ its job ─▶ ... ─▶ the machine
//
// The machine's price starts so high that no job wants it, and falls until a job does.
func (s *Solver) admit(machine int32, free bool) {
	price := s.wanted(machine)
	s.price[machine] = price
	if price <= 0 {
		s.price[machine] = 0
		return
	}
	s.admitTree(machine, free)
	next := s.nearest()
	for next >= 0 && s.open[next] != machine {
		next = s.grow(next)
	}
	if next < 0 {
		s.price[machine] = 0
		return
	}
	// One more machine lowers the price that each matched job pays, by its distance.
	ends := s.dist[machine]
	for m, row := range s.on {
		if row != Free {
			by := min(s.dist[m], ends, s.price[m])
			s.price[m] -= by
			s.gain[m] += by
		}
	}
	s.price[machine] = price - ends
	begin := s.shift(machine)
	if row := s.best[begin]; row != Free {
		s.put(row, begin)
		s.taken(row)
	}
}

// wanted returns the lowest price at which no job prefers the machine to its own.
func (s *Solver) wanted(machine int32) int64 {
	price := s.label[machine]
	for m, row := range s.on {
		if row == Free {
			continue
		}
		r := &s.rows[row]
		if c := r.Cells[machine]; c > 0 {
			price = max(price, s.bonus+r.Base+c-s.gain[m])
		}
	}
	return price
}

// admitTree starts a tree with all unmatched jobs.
func (s *Solver) admitTree(machine int32, free bool) {
	s.open, s.done = s.open[:0], s.done[:0]
	for m, row := range s.on {
		s.dist[m], s.from[m] = never, Free
		if row == Free && int32(m) != machine {
			continue
		}
		s.open = append(s.open, int32(m))
		if free || s.best[m] != Free {
			s.dist[m] = max(0, s.price[m]-s.label[m])
		}
	}
}
