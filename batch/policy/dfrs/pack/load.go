package pack

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// segment is a range of nodes that are up and have the same pinned tasks.
type segment struct {
	first, nodes int32 // positions in up
	pins, end    int32 // pinned tasks on the first node
	// Free resources of each node at the tested value.
	cpu, memory int64
}

// ranked is an item with its key in a list.
type ranked struct {
	key, order int64
	item       int32
}

// byKey orders by descending key, then by earlier submission: items are numbered by job and
// group.
func byKey(a, b ranked) int {
	switch {
	case a.key != b.key:
		return cmp.Compare(b.key, a.key)
	case a.order != b.order:
		return cmp.Compare(a.order, b.order)
	}
	return cmp.Compare(a.item, b.item)
}

// load reads a problem and returns the number of its jobs that can fit at the floor.
func (p *Packer) load(m *Machine, floor batch.Share) int {
	p.nodes, p.cpu, p.memory = m.Nodes, m.CPU, m.Memory
	if m.Memory == 0 {
		p.memory = 1
	}
	p.up = p.up[:0]
	for node := range m.Nodes {
		if m.Down == nil || !m.Down[node] {
			p.up = append(p.up, node)
		}
	}
	counted := m.Memory > 0
	n := p.mayFit(counted, m.Taken, floor)
	p.loadPins(m, n)
	p.cut()
	p.items, p.byCPU, p.byMemory = p.items[:0], p.byCPU[:0], p.byMemory[:0]
	for i := range p.jobs[:n] {
		if len(p.jobs[i].Pinned) > 0 {
			continue
		}
		for g := range p.jobs[i].Groups {
			p.add(int32(i), int32(g), counted)
		}
	}
	if p.period == 0 {
		slices.SortFunc(p.byCPU, byKey)
	}
	slices.SortFunc(p.byMemory, byKey)
	return n
}

func (p *Packer) add(job, group int32, counted bool) {
	g := &p.jobs[job].Groups[group]
	it := item{job: job, group: group, tasks: int64(g.Tasks), need: int64(g.CPU), order: p.jobs[job].Order}
	if counted {
		it.memory = g.Memory
		it.bound = p.bound(it.need, it.memory)
	}
	at := int32(len(p.items))
	p.items = append(p.items, it)
	p.byCPU = append(p.byCPU, ranked{it.need, it.order, at})
	if it.memory > 0 || p.period > 0 { // with no memory it is never in the memory list
		p.byMemory = append(p.byMemory, ranked{it.memory, it.order, at})
	}
}

// bound returns the largest yield, at most 1, at which need × yield is no larger a fraction of
// a node than memory: the floor of memory × CPU / (need × Memory).
func (p *Packer) bound(need, memory int64) batch.Share {
	high, low := bits.Mul64(uint64(memory), uint64(p.cpu)<<20)
	fraction, _ := bits.Div64(high, low, uint64(p.memory)) // high < Memory, as memory <= Memory and CPU < 2^44
	return batch.Share(min(fraction/uint64(need), uint64(batch.One)))
}

// sizes is the number of memory classes that mayFit checks.
const sizes = 9

// mayFit returns the length of the longest prefix of the jobs that does not exceed the
// resources of all nodes at the floor. It shortens a long queue without one packing for each
// dropped job.
func (p *Packer) mayFit(counted bool, taken []int64, floor batch.Share) int {
	nodes := int64(len(p.up))
	cpu, memory := nodes*p.cpu, nodes*p.memory
	if counted && taken != nil {
		for _, node := range p.up {
			memory -= taken[node]
		}
	}
	var larger [sizes + 1]int64 // tasks so large that k+1 of them do not fit on a node
	for i := range p.jobs {
		for g := range p.jobs[i].Groups {
			group := &p.jobs[i].Groups[g]
			tasks := int64(group.Tasks)
			if cpu = less(cpu, tasks, share(int64(group.CPU), floor)); cpu < 0 {
				return i
			}
			if !counted {
				continue
			}
			if memory = less(memory, tasks, group.Memory); memory < 0 {
				return i
			}
			for k := int64(1); k <= sizes && group.Memory > p.memory/(k+1); k++ {
				if larger[k] += tasks; larger[k] > k*nodes {
					return i
				}
			}
		}
	}
	return len(p.jobs)
}

// less returns left minus the size of all tasks, or a negative number if they do not fit.
func less(left, tasks, size int64) int64 {
	high, low := bits.Mul64(uint64(tasks), uint64(size))
	if high > 0 || low > math.MaxInt64 {
		return -1
	}
	return left - int64(low)
}

// noJob is the job of a pin for memory that belongs to no listed job.
const noJob = -1

// loadPins collects the pinned tasks of the first n jobs and the memory in Taken, by node.
func (p *Packer) loadPins(m *Machine, n int) {
	p.spread, p.pins = p.spread[:0], p.pins[:0]
	if m.Memory > 0 {
		for node, bytes := range m.Taken {
			if bytes > 0 {
				p.spread = append(p.spread, pin{node: int32(node), job: noJob, memory: bytes})
			}
		}
	}
	for i := range p.jobs[:n] {
		for _, at := range p.jobs[i].Pinned {
			g := &p.jobs[i].Groups[at.Group]
			one := pin{
				node: at.Node, job: int32(i), group: at.Group,
				tasks: int64(at.Tasks), need: int64(g.CPU), memory: g.Memory,
			}
			if m.Memory == 0 {
				one.memory = 0
			}
			p.spread = append(p.spread, one)
		}
	}
	p.pinsAt = p.pinsAt[:0]
	if len(p.spread) == 0 {
		return
	}
	// Counting sort keeps jobs and groups in order on each node.
	p.pinsAt = slices.Grow(p.pinsAt, int(m.Nodes)+2)[:m.Nodes+2]
	clear(p.pinsAt)
	for i := range p.spread {
		p.pinsAt[p.spread[i].node+2]++
	}
	for node := range m.Nodes {
		p.pinsAt[node+2] += p.pinsAt[node+1]
	}
	p.pins = slices.Grow(p.pins, len(p.spread))[:len(p.spread)]
	for i := range p.spread {
		next := &p.pinsAt[p.spread[i].node+1]
		p.pins[*next] = p.spread[i]
		*next++
	}
}

// cut divides the nodes that are up into segments.
func (p *Packer) cut() {
	p.segments = p.segments[:0]
	if len(p.pins) == 0 {
		if len(p.up) > 0 {
			p.segments = append(p.segments, segment{nodes: int32(len(p.up))})
		}
		return
	}
	for i, node := range p.up {
		s := segment{first: int32(i), nodes: 1, pins: p.pinsAt[node], end: p.pinsAt[node+1]}
		if i > 0 {
			last := &p.segments[len(p.segments)-1]
			if slices.EqualFunc(p.pins[last.pins:last.end], p.pins[s.pins:s.end], samePins) {
				last.nodes++
				continue
			}
		}
		p.segments = append(p.segments, s)
	}
}

func samePins(a, b pin) bool {
	return a.job == b.job && a.group == b.group && a.tasks == b.tasks && a.memory == b.memory
}
