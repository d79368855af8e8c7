package matching

import "container/heap"

// MIS is Maximum Iterative Search: it fills plan by taking the largest entry with a free job
// and a free machine, again and again; of equal entries that of the earlier row, then of the
// earlier machine. A plan with more associations may exist.
func (s *Solver) MIS(rows []Row, plan []int32) {
	s.price = fill(s.price, len(plan), 0)
	s.begin(rows, len(plan))
	defer s.end()
	h := (*candidates)(&s.heap)
	*h = (*h)[:0]
	left := len(plan)
	for _, row := range s.order {
		*h = append(*h, candidate{s.top[row], row}) // by falling top: already a heap
	}
	for len(*h) > 0 && left > 0 {
		c := (*h)[0]
		o := s.bid(c.row) // the price of a taken machine exceeds all entries
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

// candidate is a row and an upper bound of its best free entry.
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

// Push and Pop are never called: the heap is built at once and only shrinks.
func (h *candidates) Push(any) {}

// Pop is never called.
func (h *candidates) Pop() any { return nil }

// drop removes the top without the boxing of heap.Pop.
func (h *candidates) drop() {
	last := len(*h) - 1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	if last > 0 {
		heap.Fix(h, 0)
	}
}
