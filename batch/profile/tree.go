package profile

// Sizes of the nodes: a leaf is scanned in about the time of one cache miss,
// and three inner levels hold millions of steps.
const (
	leafSize  = 64
	innerSize = 32
	maxHeight = 12 // inner levels; 16^12 half-full nodes are beyond memory
)

// leaf holds steps: the change of free capacity at each time.
type leaf struct {
	n          int32
	prev, next int32 // leaves before and after in time, -1 for none
	time       [leafSize]Time
	change     [leafSize]int32
}

// inner holds children and, for each, what a search needs to pass it by.
type inner struct {
	n    int32
	kids [innerSize]int32
	key  [innerSize]Time  // no step of the child is earlier; key[0] says nothing
	sum  [innerSize]int32 // of all its changes
	low  [innerSize]int32 // lowest sum of a beginning of its changes, at least one long
	high [innerSize]int32 // highest such sum
}

func (p *Profile) newLeaf() int32 {
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

func (p *Profile) newInner() int32 {
	if n := len(p.freeInners); n > 0 {
		at := p.freeInners[n-1]
		p.freeInners = p.freeInners[:n-1]
		p.inners[at].n = 0
		return at
	}
	p.inners = append(p.inners, inner{})
	return int32(len(p.inners) - 1)
}

// dropLeaf takes an empty leaf out of the chain.
func (p *Profile) dropLeaf(at int32) {
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
func (p *Profile) clear() {
	p.root, p.height = p.newLeaf(), 0
	p.first = p.root
}

// grow puts a new root above the old one and what split off it.
func (p *Profile) grow(split int32, key Time) {
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
func (p *Profile) collapse() {
	for p.height > 0 && p.inners[p.root].n == 1 {
		old := p.root
		p.root = p.inners[old].kids[0]
		p.freeInners = append(p.freeInners, old)
		p.height--
	}
}

// measure renews what n knows of its child k, a node with so many inner levels.
func (p *Profile) measure(n *inner, k int32, level int) {
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
			low, high = min(low, sum+c.low[i]), max(high, sum+c.high[i])
			sum += c.sum[i]
		}
	}
	n.sum[k], n.low[k], n.high[k] = sum, low, high
}

// insert adds delta at t below a node with so many inner levels. split is a
// node to be put after it, beginning at key, or -1; empty says that the node has
// lost its last step and is gone.
func (p *Profile) insert(at int32, level int, t Time, delta int32) (split int32, key Time, empty bool) {
	if level == 0 {
		return p.insertLeaf(at, t, delta)
	}
	k := p.inners[at].n - 1
	for k > 0 && p.inners[at].key[k] > t {
		k--
	}
	split, key, empty = p.insert(p.inners[at].kids[k], level-1, t, delta)
	n := &p.inners[at] // after the call, which may have moved the slice
	if empty {
		if n.remove(k); n.n == 0 {
			p.freeInners = append(p.freeInners, at)
			return -1, 0, true
		}
		return -1, 0, false
	}
	p.measure(n, k, level-1)
	if split < 0 {
		return -1, 0, false
	}
	if n.n < innerSize {
		n.put(k+1, split, key)
		p.measure(n, k+1, level-1)
		return -1, 0, false
	}
	right := p.newInner()
	n, r := &p.inners[at], &p.inners[right]
	n.splitTo(r)
	into, pos := n, k+1
	if pos > n.n {
		into, pos = r, pos-n.n
	}
	into.put(pos, split, key)
	p.measure(into, pos, level-1)
	return right, r.key[0], false
}

func (p *Profile) insertLeaf(at int32, t Time, delta int32) (split int32, key Time, empty bool) {
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

// find returns the position of the first step at or after t.
func (l *leaf) find(t Time) int32 {
	lo, hi := int32(0), l.n
	for lo < hi {
		mid := (lo + hi) / 2
		if l.time[mid&(leafSize-1)] < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func (l *leaf) insert(pos int32, t Time, delta int32) {
	copy(l.time[pos+1:l.n+1], l.time[pos:l.n])
	copy(l.change[pos+1:l.n+1], l.change[pos:l.n])
	l.time[pos], l.change[pos] = t, delta
	l.n++
}

// trim removes the steps at or before now below a node and returns their sum,
// and whether nothing is left of it.
func (p *Profile) trim(at int32, level int, now Time) (gone int32, empty bool) {
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
			p.measure(n, k, level-1)
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
	n.n--
}

// shift takes the first k children out.
func (n *inner) shift(k int32) {
	copy(n.kids[:], n.kids[k:n.n])
	copy(n.key[:], n.key[k:n.n])
	copy(n.sum[:], n.sum[k:n.n])
	copy(n.low[:], n.low[k:n.n])
	copy(n.high[:], n.high[k:n.n])
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
	n.n, r.n = half, innerSize-half
}
