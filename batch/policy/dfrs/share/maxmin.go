package share

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// MaxMin computes the yields that are max-min fair (opt=min): no yield can rise without
// lowering one that is no larger, each divided by its job's weight. It returns the jobs whose
// yield changed, ascending; the list is valid until the next allocation.
func (p *Pool) MaxMin() []int32 { return p.allocate(p.becomes(maxMin), (*Pool).fillUp) }

// filling is the scratch memory of progressive filling.
type filling struct {
	rows  []row
	queue queue
	heavy []int32
	left  int // jobs without a final yield
}

// row is an overloaded node while levels rise.
type row struct {
	free   int64 // CPU left by jobs with a final yield, in 2^-40 of a processor
	active int64 // weight of the other jobs: sum of tasks × need × weight
}

// highest is the level at which a job of every weight has reached One.
const highest = int64(batch.One) * WeightOne

// level returns the level at which a row is full: the yield of a job of WeightOne.
func (r *row) level() int64 { return min(r.free*WeightOne/r.active, highest) }

// fillUp is progressive filling of one component. Nodes that fill up at the same level are
// ordered by number, so that rounding does not depend on the past.
func (p *Pool) fillUp() {
	f := &p.fill
	f.rows, f.queue = f.rows[:0], f.queue[:0]
	for i, number := range p.part.nodes {
		n := &p.nodes[number]
		n.row = int32(i)
		r := row{free: p.room(n) << 20, active: n.pull}
		f.rows = append(f.rows, r)
		f.queue = append(f.queue, fullAt(r.level(), number))
	}
	f.queue.heapify()
	heavy := p.byWeight()
	for f.left = len(p.part.jobs); f.left > 0; {
		level, number := f.queue[0].level(), f.queue[0].node()
		n := &p.nodes[number]
		r := &f.rows[n.row]
		if r.active == 0 {
			f.queue.pop()
			continue
		}
		if now := r.level(); now != level {
			f.queue[0] = fullAt(now, number)
			f.queue.down(0)
			continue
		}
		// A job heavy enough to reach One below this level keeps One.
		for len(heavy) > 0 && p.jobs[heavy[0]].fixed {
			heavy = heavy[1:]
		}
		if at(level, p.jobs[heavy[len(heavy)-1]].weight) >= batch.One {
			break // no job is left
		}
		if at(level, p.jobs[heavy[0]].weight) >= batch.One {
			p.fix(heavy[0], batch.One)
			continue
		}
		for k := range n.on {
			if j := &p.jobs[n.on[k].job]; !j.fixed {
				p.fix(n.on[k].job, at(level, j.weight))
			}
		}
	}
	if f.left == 0 {
		return
	}
	for _, number := range p.part.jobs {
		if !p.jobs[number].fixed {
			p.set(number, batch.One)
		}
	}
}

// byWeight returns the jobs of the component by descending weight.
func (p *Pool) byWeight() []int32 {
	same := true
	for _, number := range p.part.jobs[1:] {
		same = same && p.jobs[number].weight == p.jobs[p.part.jobs[0]].weight
	}
	if same {
		return p.part.jobs
	}
	f := &p.fill
	f.heavy = append(f.heavy[:0], p.part.jobs...)
	slices.SortFunc(f.heavy, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.jobs[b].weight, p.jobs[a].weight), cmp.Compare(a, b))
	})
	return f.heavy
}

// at returns the yield of a job of a weight at a level.
func at(level int64, weight int32) batch.Share {
	return batch.Share(min(level*int64(weight)/WeightOne, int64(batch.One)))
}

// fix makes the yield of a job final, and subtracts its use from its nodes.
func (p *Pool) fix(number int32, yield batch.Share) {
	j := &p.jobs[number]
	j.fixed = true
	p.fill.left--
	for _, stay := range j.at {
		if n := &p.nodes[stay.node]; n.over {
			r := &p.fill.rows[n.row]
			r.free -= stay.cpu * int64(yield)
			r.active -= stay.cpu * int64(j.weight)
		}
	}
	p.set(number, yield)
}

// full is the level at which a node is full, as last computed: fixing jobs can only raise it.
// Level and node are packed into one number, so that one comparison orders by level, then by
// node.
type full uint64

func fullAt(level int64, node int32) full { return full(level)<<32 | full(uint32(node)) }

func (f full) level() int64 { return int64(f >> 32) }
func (f full) node() int32  { return int32(uint32(f)) }

// queue is a binary heap with the node that is full first on top.
type queue []full

func (q queue) heapify() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

// down moves element i to its position. The smaller child is unpredictable, so the code selects
// it without a branch.
func (q queue) down(i int) {
	moved := q[i]
	child := 2*i + 1
	for child+1 < len(q) {
		first, second := q[child], q[child+1]
		if second < first {
			child++
		}
		if first = min(first, second); first >= moved {
			q[i] = moved
			return
		}
		q[i] = first
		i = child
		child = 2*i + 1
	}
	if child < len(q) && q[child] < moved {
		q[i] = q[child]
		i = child
	}
	q[i] = moved
}

// pop removes the top.
func (q *queue) pop() {
	last := len(*q) - 1
	(*q)[0] = (*q)[last]
	*q = (*q)[:last]
	if last > 0 {
		q.down(0)
	}
}
