package profile

// Node sizes. Scanning a leaf takes about one cache miss, and three inner levels hold
// millions of steps.
const (
	leafSize  = 64
	innerSize = 32
	maxHeight = 12 // inner levels; 16^12 half-full nodes exceed any memory
)

// leaf holds steps: the change of free capacity at each time.
type leaf struct {
	n          int32
	prev, next int32 // neighbors in time, -1 for none
	time       [leafSize]Time
	change     [leafSize]int32
}

// inner holds children and, for each, what a search needs to skip it. low and high are
// computed when a search needs them, because a planner that moves a rectangle changes
// four adjacent steps.
type inner struct {
	n     int32
	stale uint32 // bit k: low[k] and high[k] are out of date
	kids  [innerSize]int32
	key   [innerSize]Time  // lower bound of the child's steps; key[0] is unused
	sum   [innerSize]int32 // of all its changes
	low   [innerSize]int32 // lowest prefix sum of its changes, of at least one change
	high  [innerSize]int32 // highest such prefix sum
}

// measure computes sum, low and high of child k of n, a node with level inner levels.
func (p *tree) measure(n *inner, k int32, level int) {
	var sum int32
	low, high := int32(1<<31-1), int32(-1<<31)
	if level == 0 {
		l := &p.leaves[n.kids[k]]
		for _, d := range l.change[:l.n] {
			sum += d
			low, high = min(low, sum), max(high, sum)
		}
	} else {
		c := &p.inners[n.kids[k]]
		for i := range c.n {
			p.renew(c, i, level-1)
			low, high = min(low, sum+c.low[i]), max(high, sum+c.high[i])
			sum += c.sum[i]
		}
	}
	n.sum[k], n.low[k], n.high[k] = sum, low, high
	n.stale &^= 1 << k
}

// renew measures child k of n if it is stale.
func (p *tree) renew(n *inner, k int32, level int) {
	if n.stale&(1<<k) != 0 {
		p.measure(n, k, level)
	}
}

// find returns the position of the first step at or after t. It searches in strides,
// because a binary search mispredicts every branch.
func (l *leaf) find(t Time) int32 {
	const stride = 8
	i := int32(0)
	for i+stride <= l.n && l.time[(i+stride-1)&(leafSize-1)] < t {
		i += stride
	}
	for i < l.n && l.time[i&(leafSize-1)] < t {
		i++
	}
	return i
}

func (l *leaf) insert(pos int32, t Time, delta int32) {
	copy(l.time[pos+1:l.n+1], l.time[pos:l.n])
	copy(l.change[pos+1:l.n+1], l.change[pos:l.n])
	l.time[pos], l.change[pos] = t, delta
	l.n++
}

// put inserts a child at position k; the caller measures it.
func (n *inner) put(k, kid int32, key Time) {
	copy(n.kids[k+1:n.n+1], n.kids[k:n.n])
	copy(n.key[k+1:n.n+1], n.key[k:n.n])
	copy(n.sum[k+1:n.n+1], n.sum[k:n.n])
	copy(n.low[k+1:n.n+1], n.low[k:n.n])
	copy(n.high[k+1:n.n+1], n.high[k:n.n])
	below := uint32(1)<<k - 1
	n.stale = n.stale&below | n.stale&^below<<1
	n.kids[k], n.key[k] = kid, key
	n.n++
}

// remove removes child k.
func (n *inner) remove(k int32) {
	copy(n.kids[k:], n.kids[k+1:n.n])
	copy(n.key[k:], n.key[k+1:n.n])
	copy(n.sum[k:], n.sum[k+1:n.n])
	copy(n.low[k:], n.low[k+1:n.n])
	copy(n.high[k:], n.high[k+1:n.n])
	below := uint32(1)<<k - 1
	n.stale = n.stale&below | n.stale>>1&^below
	n.n--
}

// shift removes the first k children.
func (n *inner) shift(k int32) {
	copy(n.kids[:], n.kids[k:n.n])
	copy(n.key[:], n.key[k:n.n])
	copy(n.sum[:], n.sum[k:n.n])
	copy(n.low[:], n.low[k:n.n])
	copy(n.high[:], n.high[k:n.n])
	n.stale >>= k
	n.n -= k
}

// splitTo moves the upper half of n's children to the empty node r.
func (n *inner) splitTo(r *inner) {
	const half = innerSize / 2
	copy(r.kids[:], n.kids[half:])
	copy(r.key[:], n.key[half:])
	copy(r.sum[:], n.sum[half:])
	copy(r.low[:], n.low[half:])
	copy(r.high[:], n.high[half:])
	n.stale, r.stale = n.stale&(1<<half-1), n.stale>>half
	n.n, r.n = half, innerSize-half
}
