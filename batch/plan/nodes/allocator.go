package nodes

import (
	"math"
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Allocator books processors of nodes. It counts in shares, so whole processors and fractions
// can be mixed.
type Allocator struct {
	free       []int64 // of each node, in units of batch.Share
	whole      bitset  // nodes with at least one whole processor free
	spare      int64   // free whole processors on all nodes that are up
	down       []bool  // nodes that are down; nil for none
	memory     []int64 // free on each node, in bytes; nil if it is not tracked
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

// Pick books width whole processors of the lowest-numbered nodes that have any free. If there
// are too few, it returns nil and books nothing.
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

// Take books the given allocation, or nothing if a part of it is not free or does not exist.
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

// Spare returns the number of free whole processors on all nodes that are up.
func (a *Allocator) Spare() int64 { return a.spare }

func (a *Allocator) fits(l batch.NodeAllocation) bool {
	return l.Node >= 0 && int(l.Node) < len(a.free) && l.Processors > 0 &&
		l.Share > 0 && l.Share <= batch.One && amount(l) <= a.free[l.Node]
}

// Release frees an allocation.
func (a *Allocator) Release(allocation []batch.NodeAllocation) {
	for i := range allocation {
		a.add(allocation[i].Node, amount(allocation[i]))
	}
}

// SetDown sets whether a node is down: Pick skips it, and nothing on it is spare. Its
// bookings stay, and Take and Release ignore its state.
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

// PickFor is Pick for tasks that need that much memory each: it uses the lowest-numbered
// nodes that have processors and memory for them. Policies count memory over all nodes, so a
// job that they start may not fit because of fragmentation: then PickFor is Pick, and a node
// has less memory than its tasks need.
func (a *Allocator) PickFor(width int32, memory int64) []batch.NodeAllocation {
	if a.memory == nil || memory <= 0 || int64(width) > a.spare {
		return a.Pick(width)
	}
	a.allocation = a.allocation[:0]
	left := int64(width)
	for node := a.whole.next(0); node >= 0 && left > 0; node = a.whole.next(node + 1) {
		n := min(left, a.free[node]/int64(batch.One), max(a.memory[node], 0)/memory)
		if n == 0 {
			continue
		}
		a.allocation = append(a.allocation, batch.NodeAllocation{
			Node: int32(node), Processors: int32(n), Share: batch.One,
		})
		left -= n
	}
	if left > 0 {
		return a.Pick(width)
	}
	for i := range a.allocation {
		a.add(a.allocation[i].Node, -amount(a.allocation[i]))
	}
	return append([]batch.NodeAllocation(nil), a.allocation...)
}

// Hold counts memory of tasks on their allocation, the same amount for each, as used.
func (a *Allocator) Hold(allocation []batch.NodeAllocation, memory int64) {
	a.keep(allocation, -memory)
}

// Drop is the reverse of Hold.
func (a *Allocator) Drop(allocation []batch.NodeAllocation, memory int64) { a.keep(allocation, memory) }

func (a *Allocator) keep(allocation []batch.NodeAllocation, memory int64) {
	if a.memory == nil {
		return
	}
	for _, l := range allocation {
		if a.memory[l.Node] != unknown {
			a.memory[l.Node] += int64(l.Processors) * memory
		}
	}
}

// unknown is the memory of a node that is not tracked.
const unknown = math.MaxInt64

// memoryOf returns the memory of each node; nil if none is known.
func memoryOf(p batch.Platform) []int64 {
	all, known := make([]int64, len(p.Nodes)), false
	for i := range p.Nodes {
		all[i] = unknown
		if m := p.Nodes[i].Memory; m > 0 {
			all[i], known = m, true
		}
	}
	if !known {
		return nil
	}
	return all
}

// bitset is a set of small integers with a least member that is found in one step for
// each factor of 64 in its size: a bit of a level says that the word below it
// is not empty.
//
//	levels[1]  …0101
//	levels[0]  …0000 │ 0010 0000 │ 0000 │ 1000 0001
type bitset struct{ levels [][]uint64 }

func newBitset(n int) bitset {
	var b bitset
	for {
		n = (n + 63) / 64
		b.levels = append(b.levels, make([]uint64, n))
		if n <= 1 {
			return b
		}
	}
}

func (b bitset) set(i int) {
	for _, words := range b.levels {
		words[i/64] |= 1 << (i % 64)
		i /= 64
	}
}

func (b bitset) clear(i int) {
	for _, words := range b.levels {
		words[i/64] &^= 1 << (i % 64)
		if words[i/64] != 0 {
			return
		}
		i /= 64
	}
}

// next returns the least member that is not less than i, -1 if there is none.
func (b bitset) next(i int) int {
	words := b.levels[0]
	if i/64 >= len(words) {
		return -1
	}
	if w := words[i/64] >> (i % 64); w != 0 {
		return i + bits.TrailingZeros64(w)
	}
	for k := i/64 + 1; k < len(words); k++ {
		if words[k] != 0 {
			return k*64 + bits.TrailingZeros64(words[k])
		}
	}
	return -1
}

// first returns the least member of a set that is not empty.
func (b bitset) first() int {
	i := 0
	for level := len(b.levels) - 1; level >= 0; level-- {
		i = i*64 + bits.TrailingZeros64(b.levels[level][i])
	}
	return i
}
