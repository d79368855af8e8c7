package matching

// Renew finds what MFS would, from the plan of the last call and its prices: the most
// associations, and among those the largest sum. plan holds what of the last plan is
// still there, with the rows as they are numbered now, and then the new one. What does
// not hold any more costs time, not quality.
//
// Jobs that would be better off elsewhere at the prices, and their machines, leave the
// market; then jobs that are nowhere enter, as far as they can pay; then machines are
// admitted one by one.
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

// IMFS is Incremental Maximum Flow Search as the paper has it: associations of the last
// plan stay unless a longest path changes them. First come paths that are odd, one for
// each machine that nobody is on, which make the plan longer; then even ones, in which a
// job that is nowhere takes the place of another and the sum rises; such jobs come by
// falling largest entry. Prices are those of the last plan, so that paths are the longest
// only as far as they still hold.
func (s *Solver) IMFS(rows []Row, plan []int32) {
	s.resume(rows, plan)
	defer s.end()
	s.search()
	s.admitAll(false)
	s.enterAll()
	copy(plan, s.on)
}

// resume takes over what of a plan still is possible.
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

// discontent takes all jobs off their machines that would like another one better.
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

// enterAll lets the jobs that are nowhere enter, by falling top.
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

// admitAll admits the machines that nobody is on, by index.
func (s *Solver) admitAll(free bool) {
	s.later = s.later[:0]
	for m, row := range s.on {
		if row == Free {
			s.later = append(s.later, int32(m))
		}
	}
	for _, m := range s.later {
		if s.on[m] == Free { // else somebody has moved there
			s.admit(m, free)
		}
	}
}
