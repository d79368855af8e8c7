package nodes

import (
	"github.com/seed-9b8f70bb/drover/batch"
)

// Allocator books processors of nodes. It counts in shares, so that whole
// processors and fractions of them live side by side.
type Allocator struct {
	free       []int64 // of each node, in units of batch.Share
	whole      bitset  // nodes with at least one whole processor free
	spare      int64   // whole processors free on all nodes that are there
	down       []bool  // nodes that are not there; nil for none
	memory     []int64 // free of each node, in bytes; nil where it is not counted
	allocation []batch.NodeAllocation
}

// New returns an allocator of an idle platform.
func New(p batch.Platform) *Allocator {
	a := &Allocator{free: make([]int64, len(p.Nodes)), whole: newBitset(len(p.Nodes)), memory: memoryOf(p)}
	for i := range p.Nodes {
		a.add(int32(i), int64(p.Nodes[i].Processors)*int64(batch.One))
	}
	return a
}

// Pick books width whole processors of the lowest-numbered nodes that have any
// free. It returns nil and books nothing when there are not enough.
func (a *Allocator) Pick(width int32) []batch.NodeAllocation {
	if int64(width) > a.spare {
		return nil
	}
	a.allocation = a.allocation[:0]
	for left := int64(width); left > 0; {
		node := int32(a.whole.first())
		n := min(left, a.free[node]/int64(batch.One))
		a.allocation = append(a.allocation, batch.NodeAllocation{Node: node, Processors: int32(n), Share: batch.One})
		a.add(node, -n*int64(batch.One))
		left -= n
	}
	return append([]batch.NodeAllocation(nil), a.allocation...)
}

// Take books the given allocation, or nothing when one of them is not free or not
// there.
func (a *Allocator) Take(allocation []batch.NodeAllocation) bool {
	for i := range allocation {
		if !a.fits(allocation[i]) {
			a.Release(allocation[:i])
			return false
		}
		a.add(allocation[i].Node, -amount(allocation[i]))
	}
	return true
}

// Spare returns the whole processors that are free on all nodes.
func (a *Allocator) Spare() int64 { return a.spare }

func (a *Allocator) fits(l batch.NodeAllocation) bool {
	return l.Node >= 0 && int(l.Node) < len(a.free) && l.Processors > 0 &&
		l.Share > 0 && l.Share <= batch.One && amount(l) <= a.free[l.Node]
}

// Release gives allocation back.
func (a *Allocator) Release(allocation []batch.NodeAllocation) {
	for i := range allocation {
		a.add(allocation[i].Node, amount(allocation[i]))
	}
}

// SetDown says whether a node is not there: Pick passes it over, and nothing on it is
// spare. What is booked there stays so, and Take and Release go on as if it were there.
func (a *Allocator) SetDown(node int32, down bool) {
	if a.down == nil {
		a.down = make([]bool, len(a.free))
	}
	if a.down[node] == down {
		return
	}
	free := a.free[node]
	if down {
		a.add(node, -free) // as if it were full
	}
	a.down[node] = down
	if down {
		a.free[node] = free
	} else {
		a.free[node] = 0
		a.add(node, free)
	}
}

func (a *Allocator) add(node int32, shares int64) {
	if a.down != nil && a.down[node] {
		a.free[node] += shares
		return
	}
	before := a.free[node] / int64(batch.One)
	a.free[node] += shares
	after := a.free[node] / int64(batch.One)
	a.spare += after - before
	if before == 0 && after > 0 {
		a.whole.set(int(node))
	} else if before > 0 && after == 0 {
		a.whole.clear(int(node))
	}
}

func amount(l batch.NodeAllocation) int64 { return int64(l.Processors) * int64(l.Share) }
