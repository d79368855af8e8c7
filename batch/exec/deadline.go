package exec

import (
	"container/heap"

	"github.com/seed-9b8f70bb/drover/batch"
)

// deadlines orders the attempts that something must be done about at a known
// instant: the end of the walltime, or of the grace time. Each attempt has at
// most one, and is started.
type deadlines struct{ heap deadlineHeap }

// next returns the earliest deadline, or batch.Never.
func (d *deadlines) next() batch.Time {
	if len(d.heap) == 0 {
		return batch.Never
	}
	return d.heap[0].run.deadline
}

// pop takes out an attempt whose deadline is not after now; nil if there is none.
func (d *deadlines) pop(now batch.Time) *attempt {
	if d.next() > now {
		return nil
	}
	return heap.Pop(&d.heap).(*attempt)
}

// set gives a its deadline instead of the one it had; batch.Never for none.
func (d *deadlines) set(a *attempt, at batch.Time) {
	r := a.run
	r.deadline = at
	switch {
	case at == batch.Never && r.slot > 0:
		heap.Remove(&d.heap, r.slot-1)
	case at == batch.Never:
	case r.slot > 0:
		heap.Fix(&d.heap, r.slot-1)
	default:
		heap.Push(&d.heap, a)
	}
}

// deadlineHeap orders by instant, then by submission. An attempt's slot is its
// index plus one, so that the zero value is outside.
type deadlineHeap []*attempt

func (h deadlineHeap) Len() int { return len(h) }

func (h deadlineHeap) Less(i, j int) bool {
	if x, y := h[i].run.deadline, h[j].run.deadline; x != y {
		return x < y
	}
	return h[i].order < h[j].order
}

func (h deadlineHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].run.slot, h[j].run.slot = i+1, j+1
}

// Push is for package heap.
func (h *deadlineHeap) Push(x any) {
	a := x.(*attempt)
	*h = append(*h, a)
	a.run.slot = len(*h)
}

// Pop is for package heap.
func (h *deadlineHeap) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.run.slot = 0
	return a
}
