package pack

import (
	"math/bits"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// plan is one packing: the tested value, and the content of the nodes.
type plan struct {
	value  batch.Share   // the yield, or the inverse of the stretch
	yields []batch.Share // by job; only for Stretch

	lists [2]runs // the CPU list and the memory list
	// Unmet demand of the lists, and free resources of the nodes that are not filled yet.
	wantCPU, wantMemory, tasks int64
	roomCPU, roomMemory        int64

	fills  []fill
	counts []count
	used   [2][]int64 // tasks of each run on the node that is being filled
}

// fill is a range of nodes with the same content.
type fill struct {
	first, nodes  int32 // positions in up
	counts, after int32 // per node
}

// count is a number of tasks of one run.
type count struct {
	list, run int32
	tasks     int64
}

func (t *plan) reset() {
	t.lists[0].reset()
	t.lists[1].reset()
	t.wantCPU, t.wantMemory, t.tasks, t.roomCPU, t.roomMemory = 0, 0, 0, 0, 0
	t.fills, t.counts = t.fills[:0], t.counts[:0]
}

// want appends an item to a list.
func (t *plan) want(list int, at int32, it *item, key, other int64) {
	t.lists[list].add(at, it.tasks, key, other)
	t.tasks += it.tasks
	if list == 1 {
		key, other = other, key
	}
	t.wantCPU += it.tasks * key
	t.wantMemory += it.tasks * other
}

func (t *plan) seal() {
	for i := range t.lists {
		t.lists[i].seal()
		n := len(t.lists[i].key)
		t.used[i] = slices.Grow(t.used[i][:0], n)[:n]
		clear(t.used[i])
	}
}

// reserve takes the pinned tasks' shares from each segment, and reports whether each node has
// enough CPU.
func (p *Packer) reserve(t *plan, n int) bool {
	t.reset()
	for i := range p.segments {
		s := &p.segments[i]
		s.cpu, s.memory = p.cpu, p.memory
		for _, one := range p.pins[s.pins:s.end] {
			if int(one.job) >= n {
				continue
			}
			if one.job == noJob {
				s.memory -= one.memory
				continue
			}
			y := t.value
			if p.period > 0 {
				y = t.yields[one.job]
			}
			high, taken := bits.Mul64(uint64(one.tasks), uint64(share(one.need, y)))
			if high > 0 || taken > uint64(s.cpu) {
				return false
			}
			s.cpu -= int64(taken)
			s.memory -= one.tasks * one.memory
		}
		t.roomCPU += int64(s.nodes) * s.cpu
		t.roomMemory += int64(s.nodes) * s.memory
	}
	return true
}
