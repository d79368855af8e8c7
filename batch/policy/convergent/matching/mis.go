package matching

import "container/heap"

// MIS is Maximum Iterative Search: it fills plan by taking the largest entry whose job
// and machine are both free, again and again; of equal ones that of the earlier row, then
// of the machine that comes first. There may be a plan with more associations.
func (s *Solver) MIS(rows []Row, plan []int32) {
	s.price = fill(s.price, len(plan), 0)
	s.begin(rows, len(plan))
	defer s.end()
	h := (*candidates)(&s.heap)
	*h = (*h)[:0]
	left := len(plan)
	for _, row := range s.order {
		*h = append(*h, candidate{s.top[row], row}) // by falling top: a heap already
	}
	for len(*h) > 0 && left > 0 {
		c := (*h)[0]
		o := s.bid(c.row) // a machine that is taken has a price beyond all entries
		switch entry := o.best - s.bonus; {
		case o.best <= 0:
			h.drop()
		case entry < c.entry:
			(*h)[0].entry = entry
			heap.Fix(h, 0)
		default:
			s.on[o.machine] = c.row
			s.price[o.machine] = closed
			left--
			h.drop()
		}
	}
	copy(plan, s.on)
	clear(s.price)
}

// candidate is a row, and the most that it may still get.
type candidate struct {
	entry int64
	row   int32
}

type candidates []candidate

func (h candidates) Len() int { return len(h) }
func (h candidates) Less(i, j int) bool {
	return h[i].entry > h[j].entry || h[i].entry == h[j].entry && h[i].row < h[j].row
}
func (h candidates) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push and Pop are never called: the heap is made whole and only loses its top.
func (h *candidates) Push(any) {}

// Pop is as Push.
func (h *candidates) Pop() any { return nil }

// drop takes the top away, without boxing it as heap.Pop would.
func (h *candidates) drop() {
	last := len(*h) - 1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	if last > 0 {
		heap.Fix(h, 0)
	}
}
