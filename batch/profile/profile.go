package profile

import "slices"

// Profile is free capacity over time. Make one with New.
type Profile struct {
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

// New returns a profile with the given capacity free from origin on.
func New(origin Time, capacity int32) *Profile {
	p := &Profile{}
	p.Reset(origin, capacity)
	return p
}

// Reset makes p a profile with the given capacity free from origin on, keeping
// its memory.
func (p *Profile) Reset(origin Time, capacity int32) {
	p.origin, p.base, p.steps, p.height = origin, capacity, 0, 0
	p.leaves, p.inners = p.leaves[:0], p.inners[:0]
	p.freeLeaves, p.freeInners = p.freeLeaves[:0], p.freeInners[:0]
	p.root = p.newLeaf()
	p.first = p.root
}

// Clone returns an independent copy.
func (p *Profile) Clone() *Profile {
	c := *p
	c.leaves, c.inners = slices.Clone(p.leaves), slices.Clone(p.inners)
	c.freeLeaves, c.freeInners = slices.Clone(p.freeLeaves), slices.Clone(p.freeInners)
	return &c
}

// CopyFrom makes p a copy of q, keeping p's memory.
func (p *Profile) CopyFrom(q *Profile) {
	leaves, inners := append(p.leaves[:0], q.leaves...), append(p.inners[:0], q.inners...)
	freeLeaves, freeInners := append(p.freeLeaves[:0], q.freeLeaves...), append(p.freeInners[:0], q.freeInners...)
	*p = *q
	p.leaves, p.inners, p.freeLeaves, p.freeInners = leaves, inners, freeLeaves, freeInners
}

// Len returns the number of steps.
func (p *Profile) Len() int { return p.steps }

// Origin returns the instant at which the profile begins.
func (p *Profile) Origin() Time { return p.origin }

// Free returns what is free at t; before the origin, what is free there.
func (p *Profile) Free(t Time) int32 {
	return p.seek(t).free
}

// Reserve takes width from start until end; an end of Never does not end. What
// lies before the origin is cut off.
func (p *Profile) Reserve(start, end Time, width int32) { p.change(start, end, -width) }

// Release gives back what Reserve took, or a part of its time.
func (p *Profile) Release(start, end Time, width int32) { p.change(start, end, width) }

// Trim moves the origin forward to now and forgets the steps before it.
func (p *Profile) Trim(now Time) {
	if now <= p.origin {
		return
	}
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

// Steps calls yield with each step, in order, and what is free from there on,
// beginning with the origin. It has the form of an iter.Seq2.
func (p *Profile) Steps(yield func(Time, int32) bool) {
	free := p.base
	if !yield(p.origin, free) {
		return
	}
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

func (p *Profile) change(start, end Time, delta int32) {
	if start >= end || delta == 0 {
		return
	}
	p.add(start, delta)
	if end != Never {
		p.add(end, -delta)
	}
}

// add changes what is free from t on.
func (p *Profile) add(t Time, delta int32) {
	if t <= p.origin {
		p.base += delta
		return
	}
	p.insert(t, delta)
}
