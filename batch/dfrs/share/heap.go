package share

func (a full) before(b full) bool {
	return a.level < b.level || a.level == b.level && a.node < b.node
}

func (f *filling) heapify() {
	for i := len(f.queue)/2 - 1; i >= 0; i-- {
		f.down(i)
	}
}

// down moves element i to where it belongs among those below it.
func (f *filling) down(i int) {
	q := f.queue
	moved := q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1].before(q[child]) {
			child++
		}
		if !q[child].before(moved) {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = moved
}

// pop removes the first element.
func (f *filling) pop() {
	last := len(f.queue) - 1
	f.queue[0] = f.queue[last]
	f.queue = f.queue[:last]
	if last > 0 {
		f.down(0)
	}
}
