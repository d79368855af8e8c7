package profile

// Sizes of the nodes: a leaf is scanned in about the time of one cache miss,
// and three inner levels hold millions of steps.
const (
	leafSize  = 64
	innerSize = 32
	maxHeight = 12 // inner levels; 16^12 half-full nodes are beyond memory
)

// tree is a profile of many steps: the changes of free capacity in a B+tree.
type tree struct {
	origin Time  // steps at or before it are part of base
	base   int32 // free from origin to the first step
	steps  int

	leaves     []leaf
	inners     []inner
	freeLeaves []int32 // indices for use again
	freeInners []int32
	root       int32 // a leaf if height is 0
	height     int   // inner levels
	first      int32 // the leftmost leaf

	cursor cursor
}

// reset makes the tree empty, keeping its memory.
func (p *tree) reset(origin Time, capacity int32) {
	p.origin, p.base, p.steps, p.height = origin, capacity, 0, 0
	p.leaves, p.inners = p.leaves[:0], p.inners[:0]
	p.freeLeaves, p.freeInners = p.freeLeaves[:0], p.freeInners[:0]
	p.clear()
}

// copyFrom makes p a copy of q, keeping p's memory.
func (p *tree) copyFrom(q *tree) {
	leaves, inners := append(p.leaves[:0], q.leaves...), append(p.inners[:0], q.inners...)
	freeLeaves, freeInners := append(p.freeLeaves[:0], q.freeLeaves...), append(p.freeInners[:0], q.freeInners...)
	*p = *q
	p.leaves, p.inners, p.freeLeaves, p.freeInners = leaves, inners, freeLeaves, freeInners
}

// add changes what is free from t on.
func (p *tree) add(t Time, delta int32) {
	if t <= p.origin {
		p.base += delta
		return
	}
	p.insert(t, delta)
}

// trimTo moves the origin forward to now and forgets the steps before it.
func (p *tree) trimTo(now Time) {
	p.origin = now
	if l := &p.leaves[p.first]; l.n == 0 || l.time[0] > now {
		return
	}
	gone, empty := p.trim(p.root, p.height, now)
	p.base += gone
	if empty {
		p.clear()
	}
	p.collapse()
}

// each calls yield with each step and what is free from it on, without the
// origin.
func (p *tree) each(yield func(Time, int32) bool) {
	free := p.base
	for at := p.first; at >= 0; at = p.leaves[at].next {
		l := &p.leaves[at]
		for i := range l.n {
			free += l.change[i]
			if !yield(l.time[i], free) {
				return
			}
		}
	}
}

// leaf holds steps: the change of free capacity at each time.
type leaf struct {
	n          int32
	prev, next int32 // leaves before and after in time, -1 for none
	time       [leafSize]Time
	change     [leafSize]int32
}

// inner holds children and, for each, what a search needs to pass it by. low
// and high are renewed when a search asks for them, because a planner that moves
// a rectangle changes four steps that lie close together.
type inner struct {
	n     int32
	stale uint32 // bit k: low[k] and high[k] are out of date
	kids  [innerSize]int32
	key   [innerSize]Time  // no step of the child is earlier; key[0] says nothing
	sum   [innerSize]int32 // of all its changes
	low   [innerSize]int32 // lowest sum of a beginning of its changes, at least one long
	high  [innerSize]int32 // highest such sum
}

func (p *tree) newLeaf() int32 {
	if n := len(p.freeLeaves); n > 0 {
		at := p.freeLeaves[n-1]
		p.freeLeaves = p.freeLeaves[:n-1]
		p.leaves[at].n = 0
		p.leaves[at].prev, p.leaves[at].next = -1, -1
		return at
	}
	p.leaves = append(p.leaves, leaf{prev: -1, next: -1})
	return int32(len(p.leaves) - 1)
}

func (p *tree) newInner() int32 {
	if n := len(p.freeInners); n > 0 {
		at := p.freeInners[n-1]
		p.freeInners = p.freeInners[:n-1]
		p.inners[at].n, p.inners[at].stale = 0, 0
		return at
	}
	p.inners = append(p.inners, inner{})
	return int32(len(p.inners) - 1)
}

// dropLeaf takes an empty leaf out of the chain.
func (p *tree) dropLeaf(at int32) {
	l := &p.leaves[at]
	if l.prev >= 0 {
		p.leaves[l.prev].next = l.next
	} else {
		p.first = l.next
	}
	if l.next >= 0 {
		p.leaves[l.next].prev = l.prev
	}
	p.freeLeaves = append(p.freeLeaves, at)
}

// clear makes the tree one empty leaf, after its last step has gone.
func (p *tree) clear() {
	p.root, p.height = p.newLeaf(), 0
	p.first = p.root
}

// grow puts a new root above the old one and what split off it.
func (p *tree) grow(split int32, key Time) {
	old, level := p.root, p.height
	p.root = p.newInner()
	p.height++
	n := &p.inners[p.root]
	n.n = 2
	n.kids[0], n.kids[1] = old, split
	n.key[0], n.key[1] = p.origin, key
	p.measure(n, 0, level)
	p.measure(n, 1, level)
}

// collapse takes away roots with a single child.
func (p *tree) collapse() {
	for p.height > 0 && p.inners[p.root].n == 1 {
		old := p.root
		p.root = p.inners[old].kids[0]
		p.freeInners = append(p.freeInners, old)
		p.height--
	}
}

// measure renews what n knows of its child k, a node with so many inner levels.
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

// renew measures n's child k, a node with so many inner levels, if that is due.
func (p *tree) renew(n *inner, k int32, level int) {
	if n.stale&(1<<k) != 0 {
		p.measure(n, k, level)
	}
}

// insert adds delta at t. It goes down to the leaf and notes the change on the
// way; only when the leaf splits or goes does it climb again.
func (p *tree) insert(t Time, delta int32) {
	var path [maxHeight]struct{ node, kid int32 }
	at := p.root
	for h := p.height - 1; h >= 0; h-- {
		n := &p.inners[at]
		k := n.n - 1
		for k > 0 && n.key[k] > t {
			k--
		}
		n.sum[k] += delta
		n.stale |= 1 << k
		path[h].node, path[h].kid = at, k
		at = n.kids[k]
	}
	split, key, empty := p.insertLeaf(at, t, delta)
	for h := 0; h < p.height && (split >= 0 || empty); h++ {
		split, key, empty = p.mend(path[h].node, path[h].kid, h, split, key)
	}
	switch {
	case empty:
		p.clear()
	case split >= 0:
		p.grow(split, key)
	}
	p.collapse()
}

// mend puts what split off child k of a node, a node with level inner levels,
// beside it, or takes the child out if nothing did: then it is empty. split and
// empty say the same of the node itself.
func (p *tree) mend(at, k int32, level int, kid int32, first Time) (split int32, key Time, empty bool) {
	n := &p.inners[at]
	if kid < 0 {
		if n.remove(k); n.n == 0 {
			p.freeInners = append(p.freeInners, at)
			return -1, 0, true
		}
		return -1, 0, false
	}
	p.measure(n, k, level)
	if n.n < innerSize {
		n.put(k+1, kid, first)
		p.measure(n, k+1, level)
		return -1, 0, false
	}
	right := p.newInner()
	n, r := &p.inners[at], &p.inners[right]
	n.splitTo(r)
	into, pos := n, k+1
	if pos > n.n {
		into, pos = r, pos-n.n
	}
	into.put(pos, kid, first)
	p.measure(into, pos, level)
	return right, r.key[0], false
}

func (p *tree) insertLeaf(at int32, t Time, delta int32) (split int32, key Time, empty bool) {
	l := &p.leaves[at]
	pos := l.find(t)
	if pos < l.n && l.time[pos] == t {
		if l.change[pos] += delta; l.change[pos] != 0 {
			return -1, 0, false
		}
		copy(l.time[pos:], l.time[pos+1:l.n])
		copy(l.change[pos:], l.change[pos+1:l.n])
		l.n--
		p.steps--
		if l.n == 0 {
			p.dropLeaf(at)
			return -1, 0, true
		}
		return -1, 0, false
	}
	p.steps++
	if l.n < leafSize {
		l.insert(pos, t, delta)
		return -1, 0, false
	}
	right := p.newLeaf()
	l = &p.leaves[at] // newLeaf may have moved the slice
	r := &p.leaves[right]
	r.prev, r.next = at, l.next
	if l.next >= 0 {
		p.leaves[l.next].prev = right
	}
	l.next = right
	const half = leafSize / 2
	copy(r.time[:], l.time[half:])
	copy(r.change[:], l.change[half:])
	l.n, r.n = half, leafSize-half
	if pos <= half {
		l.insert(pos, t, delta)
	} else {
		r.insert(pos-half, t, delta)
	}
	return right, r.time[0], false
}

// find returns the position of the first step at or after t. In strides: a search
// by halves would guess wrong at every turn.
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

// trim removes the steps at or before now below a node and returns their sum,
// and whether nothing is left of it.
func (p *tree) trim(at int32, level int, now Time) (gone int32, empty bool) {
	if level == 0 {
		l := &p.leaves[at]
		k := int32(0)
		for k < l.n && l.time[k] <= now {
			gone += l.change[k]
			k++
		}
		copy(l.time[:], l.time[k:l.n])
		copy(l.change[:], l.change[k:l.n])
		l.n -= k
		p.steps -= int(k)
		if l.n == 0 {
			p.dropLeaf(at)
			return gone, true
		}
		return gone, false
	}
	n := &p.inners[at]
	k := int32(0) // children that are gone
	for ; k < n.n; k++ {
		sum, none := p.trim(n.kids[k], level-1, now)
		gone += sum
		if !none {
			n.sum[k] -= sum
			n.stale |= 1 << k
			break
		}
	}
	n.shift(k)
	if n.n == 0 {
		p.freeInners = append(p.freeInners, at)
		return gone, true
	}
	return gone, false
}

// put inserts a child at position k; its measures are the caller's business.
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

// remove takes child k out.
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

// shift takes the first k children out.
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
