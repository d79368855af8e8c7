package profile

// cursor is a position in a tree: a step and the free capacity from it on.
type cursor struct {
	p    *tree
	leaf int32
	i    int32 // step within the leaf; -1 in the first leaf is the origin
	free int32
	path [maxHeight]struct{ node, kid int32 } // path[h] is the inner node with h levels below it
}

// seek returns the tree's cursor, moved to the last step at or before t, or to the
// origin. A tree has one cursor, because a cursor is larger than what most searches
// read.
func (p *tree) seek(t Time) *cursor {
	c := &p.cursor
	c.p, c.leaf, c.i, c.free = p, p.root, -1, p.base
	for h := p.height - 1; h >= 0; h-- {
		at := c.leaf
		n := &p.inners[at]
		k := int32(0)
		for k+1 < n.n && n.key[k+1] <= t {
			c.free += n.sum[k]
			k++
		}
		c.path[h].node, c.path[h].kid = at, k
		c.leaf = n.kids[k]
	}
	l := &p.leaves[c.leaf]
	for c.i+1 < l.n && l.time[c.i+1] <= t {
		c.i++
		c.free += l.change[c.i]
	}
	return c
}

// time returns the time of the cursor's step. Right after seek the cursor may be before
// the first step of its leaf, on a step of the previous leaf; callers do not ask for
// its time then.
func (c *cursor) time() Time { return c.p.leaves[c.leaf].time[c.i] }

// advance moves to the first later step, before limit, with a free capacity
// below width, or at least width if below is not set. It says whether there is
// one; if not, the cursor is of no more use.
func (c *cursor) advance(width int32, below bool, limit Time) bool {
	l := &c.p.leaves[c.leaf]
	free := c.free
	for i := c.i + 1; i < l.n; i++ {
		free += l.change[i&(leafSize-1)]
		if (free < width) == below {
			c.i, c.free = i, free
			return l.time[i] < limit
		}
	}
	for h := range c.p.height {
		n := &c.p.inners[c.path[h].node]
		for k := c.path[h].kid + 1; k < n.n; k++ {
			if n.key[k] >= limit {
				return false
			}
			if c.p.holds(n, k, h, free, width, below) {
				c.path[h].kid = k
				c.free = free
				return c.descend(h, width, below) && c.time() < limit
			}
			free += n.sum[k]
		}
	}
	return false
}

// holds reports whether child k of n, a node with level inner levels, contains a step
// that advance searches for.
func (p *tree) holds(n *inner, k int32, level int, free, width int32, below bool) bool {
	p.renew(n, k, level)
	if below {
		return free+n.low[k] < width
	}
	return free+n.high[k] >= width
}

// descend goes down from the child at path[h] to the first step that advance searches
// for, which exists.
func (c *cursor) descend(h int, width int32, below bool) bool {
	at := c.p.inners[c.path[h].node].kids[c.path[h].kid]
	for h--; h >= 0; h-- {
		n := &c.p.inners[at]
		k := int32(0)
		for !c.p.holds(n, k, h, c.free, width, below) {
			c.free += n.sum[k]
			k++
		}
		c.path[h].node, c.path[h].kid = at, k
		at = n.kids[k]
	}
	c.leaf = at
	l := &c.p.leaves[at]
	for i := range l.n {
		c.free += l.change[i]
		if (c.free < width) == below {
			c.i = i
			return true
		}
	}
	return false
}

// fit is Profile.FitWithin.
func (p *tree) fit(from, latest, until Time, d Duration, width int32) Time {
	c := p.seek(from)
	for start := from; start < latest; start = c.time() {
		if c.free < width {
			if !c.advance(width, false, latest) {
				return Never
			}
			start = c.time()
		}
		if !c.advance(width, true, min(start.Add(d), until)) {
			return start
		}
	}
	return Never
}

// highest is Profile.Highest.
func (p *tree) highest(from, to Time) int32 {
	c := p.seek(from)
	most := c.free
	for c.advance(most+1, false, to) {
		most = c.free
	}
	return most
}

// lowest is Profile.Lowest.
func (p *tree) lowest(from, to Time) int32 {
	c := p.seek(from)
	least := c.free
	for c.advance(least, true, to) {
		least = c.free
	}
	return least
}

// levels is Profile.Levels.
func (p *tree) levels(from Time, out []Level) []Level {
	c := p.seek(from)
	for {
		least := c.free
		if !c.advance(least, true, Never) {
			return append(out, Level{least, Never})
		}
		out = append(out, Level{least, c.time()})
	}
}
