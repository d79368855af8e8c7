package nodes

import (
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
)

// PickFor is Pick for tasks that need so much memory each: of the lowest-numbered nodes
// that have processors and memory for them. Policies count memory over all nodes, and
// what they start may fit on none as it lies: then it is as Pick, and a node has less
// memory than is wanted of it.
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
		a.allocation = append(a.allocation, batch.NodeAllocation{Node: int32(node), Processors: int32(n), Share: batch.One})
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

// Hold counts the memory of tasks on their allocation, so much for each, as not free.
func (a *Allocator) Hold(allocation []batch.NodeAllocation, memory int64) {
	a.keep(allocation, -memory)
}

// Drop takes back what Hold has counted.
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

// unknown is the memory of a node that is not counted.
const unknown = math.MaxInt64

// memoryOf returns the memory of each node; nil if that of none is known.
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
