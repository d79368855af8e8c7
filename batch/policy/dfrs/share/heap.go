package share

// full says at which level a node is full, or was when this was computed: as jobs
// are fixed it can only become later. Level and node are one number, so that they
// are compared at once: by level, then by node.
type full uint64

func fullAt(level int64, node int32) full { return full(level)<<32 | full(uint32(node)) }

func (f full) level() int64 { return int64(f >> 32) }
func (f full) node() int32  { return int32(uint32(f)) }

// queue is a binary heap: the node that is full first is first.
type queue []full

func (q queue) heapify() {
	for i := len(q)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

// down moves element i to where it belongs among those below it. Which child comes
// first is as good as random, so it is chosen without a branch.
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

// pop removes the first element.
func (q *queue) pop() {
	last := len(*q) - 1
	(*q)[0] = (*q)[last]
	*q = (*q)[:last]
	if last > 0 {
		q.down(0)
	}
}
