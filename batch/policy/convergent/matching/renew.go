package matching

// Renew finds the same matching as MFS, starting from the plan and prices of the last call: the
// most associations, and among those the largest sum. plan holds the last plan, renumbered to
// the current rows, and receives the new one. Outdated parts cost time, not quality.
//
// Jobs that gain more elsewhere at the current prices leave their machines, and both leave the
// market. Then unmatched jobs enter as far as they can pay. Then the free machines are admitted
// one by one.
func (s *Solver) Renew(rows []Row, plan []int32) {
	s.resume(rows, plan)
	defer s.end()
	s.discontent()
	for m, row := range s.on {
		if row == Free {
			s.price[m] = closed
		}
	}
	s.enterAll()
	s.search()
	s.admitAll(true)
	copy(plan, s.on)
}

// IMFS is the paper's Incremental Maximum Flow Search: associations of the last plan stay
// unless a longest path changes them. Odd paths come first, one for each free machine, and
// lengthen the plan. Even paths follow, in which an unmatched job replaces a matched one and
// the sum rises; these jobs come by falling largest entry. Prices are those of the last plan,
// so that paths are the longest only as far as the prices are still right.
func (s *Solver) IMFS(rows []Row, plan []int32) {
	s.resume(rows, plan)
	defer s.end()
	s.search()
	s.admitAll(false)
	s.enterAll()
	copy(plan, s.on)
}

// resume adopts the associations of a plan that are still possible.
func (s *Solver) resume(rows []Row, plan []int32) {
	if len(s.price) != len(plan) {
		s.price = fill(s.price, len(plan), 0)
	}
	s.begin(rows, len(plan))
	s.room(len(plan))
	for m, row := range plan {
		if row != Free && s.at[row] == Free && rows[row].At(int32(m)) > 0 {
			s.put(row, int32(m))
		}
	}
}

// discontent unmatches all jobs that prefer another machine.
func (s *Solver) discontent() {
	s.later = s.later[:0]
	for m, row := range s.on {
		if row != Free && s.bid(row).best > s.gain[m] {
			s.later = append(s.later, int32(m))
		}
	}
	for _, m := range s.later {
		s.at[s.on[m]] = Free
		s.on[m] = Free
	}
}

// enterAll lets the unmatched jobs enter, by falling top.
func (s *Solver) enterAll() {
	s.later = s.later[:0]
	for _, row := range s.order {
		if s.at[row] == Free {
			s.later = append(s.later, row)
		}
	}
	for k, row := range s.later {
		if k%16 == 0 && s.top[row]+s.bonus <= s.cheapest() {
			return
		}
		s.enter(row)
	}
}

// admitAll admits the free machines, by index.
func (s *Solver) admitAll(free bool) {
	s.later = s.later[:0]
	for m, row := range s.on {
		if row == Free {
			s.later = append(s.later, int32(m))
		}
	}
	for _, m := range s.later {
		if s.on[m] == Free { // a job may have moved there
			s.admit(m, free)
		}
	}
}
