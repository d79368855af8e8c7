package profile

// tree is a profile of many steps: a B+tree of the changes of free capacity.
type tree struct {
	origin Time  // steps at or before it are part of base
	base   int32 // free capacity from origin to the first step
	steps  int

	leaves     []leaf
	inners     []inner
	freeLeaves []int32 // unused indices
	freeInners []int32
	root       int32 // a leaf if height is 0
	height     int   // inner levels
	first      int32 // the leftmost leaf

	cursor cursor
}

// reset empties the tree and reuses its memory.
func (p *tree) reset(origin Time, capacity int32) {
	p.origin, p.base, p.steps, p.height = origin, capacity, 0, 0
	p.leaves, p.inners = p.leaves[:0], p.inners[:0]
	p.freeLeaves, p.freeInners = p.freeLeaves[:0], p.freeInners[:0]
	p.clear()
}

// copyFrom makes p a copy of q and reuses p's memory.
func (p *tree) copyFrom(q *tree) {
	leaves, inners := append(p.leaves[:0], q.leaves...), append(p.inners[:0], q.inners...)
	freeLeaves, freeInners := append(p.freeLeaves[:0], q.freeLeaves...), append(p.freeInners[:0], q.freeInners...)
	*p = *q
	p.leaves, p.inners, p.freeLeaves, p.freeInners = leaves, inners, freeLeaves, freeInners
}

// add changes the free capacity from t on.
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

// each calls yield with each step except the origin and the free capacity from it on.
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

// dropLeaf removes an empty leaf from the chain.
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

// clear makes the tree one empty leaf after its last step was removed.
func (p *tree) clear() {
	p.root, p.height = p.newLeaf(), 0
	p.first = p.root
}

// grow puts a new root above the old one and its sibling after a split.
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

// collapse removes roots with a single child.
func (p *tree) collapse() {
	for p.height > 0 && p.inners[p.root].n == 1 {
		old := p.root
		p.root = p.inners[old].kids[0]
		p.freeInners = append(p.freeInners, old)
		p.height--
	}
}

// insert adds delta at t. It updates the sums on its way down to the leaf, and climbs
// again only if the leaf splits or becomes empty.
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

// mend repairs child k of a node with level inner levels after an insert: it adds the
// sibling after a split, or removes the child if it became empty. split and empty report
// the same about the node itself.
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
	k := int32(0) // removed children
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
