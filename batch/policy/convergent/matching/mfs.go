package matching

// MFS is Maximum Flow Search: it fills plan with the matching that has the most
// associations and, among those, the largest sum of entries. It begins from nothing.
func (s *Solver) MFS(rows []Row, plan []int32) {
	s.price = fill(s.price, len(plan), 0)
	s.begin(rows, len(plan))
	defer s.end()
	s.room(len(plan))
	s.auction()
	for _, row := range s.later {
		s.enter(row)
	}
	copy(plan, s.on)
}

// room makes the tree large enough.
func (s *Solver) room(machines int) {
	s.dist = fill(s.dist, machines, 0)
	s.from = fill(s.from, machines, Free)
}

// rounds is how many times as many bids as machines an auction may take: wars of small
// steps are better settled by paths.
const rounds = 4

// auction lets jobs outbid each other, by falling top. Who bids takes the machine that
// is best for it and raises the price until the second best is as good, so that all
// who have a machine have their best one. Jobs that would raise nothing, and all who
// are outbid late, are left for paths.
func (s *Solver) auction() {
	s.later = s.later[:0]
	bids := rounds * len(s.on)
	for k, row := range s.order {
		if k%16 == 0 && s.top[row]+s.bonus <= s.cheapest() {
			return // neither this one nor who follows can pay
		}
		for bidder := row; bidder != Free; {
			o := s.bid(bidder)
			if o.best <= 0 {
				break
			}
			by := o.best - max(o.second, 0)
			out := s.on[o.machine]
			if out != Free && (by == 0 || bids == 0) {
				s.later = append(s.later, bidder)
				break
			}
			if out != Free {
				s.at[out] = Free
				bids--
			}
			s.price[o.machine] += by
			s.put(bidder, o.machine)
			bidder = out
		}
	}
}

// cheapest returns the lowest price.
func (s *Solver) cheapest() int64 {
	least := never
	for _, p := range s.price {
		least = min(least, p)
	}
	return least
}
