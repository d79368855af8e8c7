package profile

// naive is the oracle: free capacity as an array, one element for each instant
// of a short horizon; the last element stands for all that follows.
type naive struct {
	origin int
	free   []int32
}

const horizon = 400

func newNaive(capacity int32) *naive { return newLongNaive(capacity, horizon) }

func newLongNaive(capacity int32, length int) *naive {
	n := &naive{free: make([]int32, length+1)}
	for i := range n.free {
		n.free[i] = capacity
	}
	return n
}

func (n *naive) change(start, end Time, delta int32) {
	for t := start; t < end && t <= n.last(); t++ {
		n.free[t] += delta
	}
}

func (n *naive) last() Time { return Time(len(n.free) - 1) }

func (n *naive) at(t Time) int32 { return n.free[min(max(t, Time(n.origin)), n.last())] }

func (n *naive) fit(from, until Time, d Duration, width int32) Time {
	for t := max(from, Time(n.origin)); t < until && t <= n.last(); t++ {
		ok := true
		for u := t; u < min(t.Add(d), until) && u <= n.last(); u++ {
			ok = ok && n.at(u) >= width
		}
		if ok {
			return t
		}
	}
	return Never
}

// lowest returns the least that is free in [from, to).
func (n *naive) lowest(from, to Time) int32 {
	least := n.at(from)
	for t := max(from, Time(n.origin)); t < to && t <= n.last(); t++ {
		least = min(least, n.at(t))
	}
	return least
}
