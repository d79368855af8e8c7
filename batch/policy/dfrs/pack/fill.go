package pack

import "math/bits"

// pack fills nodes and reports whether all tasks fit.
func (t *plan) pack(p *Packer) bool {
	for i := range p.segments {
		s := &p.segments[i]
		for at, left := s.first, s.nodes; left > 0; {
			if t.tasks == 0 {
				return true
			}
			if t.wantCPU > t.roomCPU || t.wantMemory > t.roomMemory {
				return false
			}
			nodes := t.alike(p, s, at, left)
			at, left = at+nodes, left-nodes
		}
	}
	return t.tasks == 0
}

// alike fills the node at a position in up, and all following nodes of its segment with the
// same result: each choice repeats while every used run has at least as many tasks left as the
// node took. It returns the number of filled nodes.
func (t *plan) alike(p *Packer, s *segment, at, left int32) int32 {
	from := len(t.counts)
	t.node(p, s.cpu, s.memory)
	t.roomCPU -= s.cpu
	t.roomMemory -= s.memory
	counts := t.counts[from:]
	more := int64(left - 1)
	for i := range counts {
		c := &counts[i]
		c.tasks = t.used[c.list][c.run]
		t.used[c.list][c.run] = 0
		more = min(more, t.lists[c.list].left[c.run]/c.tasks)
	}
	for i := range counts {
		c := &counts[i]
		l := &t.lists[c.list]
		l.left[c.run] -= more * c.tasks
		if l.left[c.run] == 0 {
			l.skip[c.run] = c.run + 1
		}
		taken := (more + 1) * c.tasks
		t.tasks -= taken
		key, other := taken*l.key[c.run], taken*l.other[c.run]
		if c.list == 1 {
			key, other = other, key
		}
		t.wantCPU -= key
		t.wantMemory -= other
	}
	t.roomCPU -= more * s.cpu
	t.roomMemory -= more * s.memory
	if len(counts) > 0 {
		t.fills = append(t.fills, fill{at, int32(more) + 1, int32(from), int32(len(t.counts))})
	}
	return int32(more) + 1
}

// node fills one node. A task that does not fit now does not fit later, so one pass over each
// list is enough. Most time is spent here; the code therefore handles both lists in place
// rather than by a loop that swaps their keys.
func (t *plan) node(p *Packer, cpu, memory int64) {
	byCPU, byMemory := &t.lists[0], &t.lists[1]
	c := byCPU.next(0, cpu, memory)
	m := byMemory.next(0, memory, cpu)
	endC, endM := int32(len(byCPU.key)), int32(len(byMemory.key))
	for c < endC || m < endM {
		if m == endM || c < endC && !larger(memory, p.cpu, cpu, p.memory) {
			// If the other list is exhausted, take all tasks of this run that fit.
			n := int64(1)
			if m == endM {
				n = fitting(byCPU.left[c], byCPU.key[c], cpu, byCPU.other[c], memory)
			}
			cpu -= n * byCPU.key[c]
			memory -= n * byCPU.other[c]
			t.take(0, c, n)
		} else {
			n := int64(1)
			if c == endC {
				n = fitting(byMemory.left[m], byMemory.key[m], memory, byMemory.other[m], cpu)
			}
			memory -= n * byMemory.key[m]
			cpu -= n * byMemory.other[m]
			t.take(1, m, n)
		}
		c = byCPU.next(c, cpu, memory)
		m = byMemory.next(m, memory, cpu)
	}
}

// fitting returns the number of tasks of a run that fit; at least one does.
func fitting(left, key, freeKey, other, freeOther int64) int64 {
	if key > 0 {
		left = min(left, freeKey/key)
	}
	if other > 0 {
		left = min(left, freeOther/other)
	}
	return left
}

func (t *plan) take(list, run int32, tasks int64) {
	if t.used[list][run] == 0 {
		t.counts = append(t.counts, count{list: list, run: run})
	}
	t.used[list][run] += tasks
	l := &t.lists[list]
	if l.left[run] -= tasks; l.left[run] == 0 {
		l.skip[run] = run + 1
	}
}

// larger reports whether a/b > c/d, exactly, given a, d, c, b.
func larger(a, d, c, b int64) bool {
	aHigh, aLow := bits.Mul64(uint64(a), uint64(d))
	cHigh, cLow := bits.Mul64(uint64(c), uint64(b))
	return aHigh > cHigh || aHigh == cHigh && aLow > cLow
}
