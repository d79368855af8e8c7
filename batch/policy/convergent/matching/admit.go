package matching

// admit brings a machine that nobody is on into the market, by the longest path to it:
// from a job that is nowhere, or, with free, from a machine that then has nobody in its
// place because the path is worth more.
//
//	a job that is nowhere ─▶ machine ─▶ the job on it ─▶ ... ─▶ the machine
//	        (free) a machine ─▶ the job on it ─▶ ... ─▶ the machine
//
// Its price begins so high that nobody wants it, and falls until somebody does.
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
	// One machine more: all who have one pay less for it, by how near they are.
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
	if row := s.who[begin]; row != Free {
		s.put(row, begin)
		s.taken(row)
	}
}

// wanted returns the lowest price at which nobody prefers a machine to what they have.
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

// admitTree begins a tree with all jobs that are nowhere.
func (s *Solver) admitTree(machine int32, free bool) {
	s.open, s.done = s.open[:0], s.done[:0]
	for m, row := range s.on {
		s.dist[m], s.from[m] = never, Free
		if row == Free && int32(m) != machine {
			continue
		}
		s.open = append(s.open, int32(m))
		if free || s.who[m] != Free {
			s.dist[m] = max(0, s.price[m]-s.label[m])
		}
	}
}
