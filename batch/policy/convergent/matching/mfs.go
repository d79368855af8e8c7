package matching

// MFS is Maximum Flow Search: it fills plan with the matching that has the most associations
// and, among those, the largest sum of entries. It starts from scratch.
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

// room sizes the tree.
func (s *Solver) room(machines int) {
	s.dist = fill(s.dist, machines, 0)
	s.from = fill(s.from, machines, Free)
}

// rounds limits the bids of an auction, as a multiple of the machines. Paths settle bidding
// wars of small steps faster.
const rounds = 4

// auction lets jobs outbid each other, by falling top. A bidder takes its best machine and
// raises the price until its second-best machine is as good, so that each matched job has its
// best machine. Jobs that would not raise a price, and jobs that are outbid late, are left for
// paths.
func (s *Solver) auction() {
	s.later = s.later[:0]
	bids := rounds * len(s.on)
	for k, row := range s.order {
		if k%16 == 0 && s.top[row]+s.bonus <= s.cheapest() {
			return // neither this job nor a later one can pay
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
