package profile

// Profile is free capacity over time: an array with few steps, a tree with many. Make
// one with New.
type Profile struct {
	small bool // array is in use, not tree
	limit int  // steps of the array
	grown uint64
	array array
	tree  tree
}

// New returns a profile with the given capacity free from origin on.
func New(origin Time, capacity int32) *Profile {
	p := &Profile{limit: arrayLimit}
	p.Reset(origin, capacity)
	return p
}

// Reset makes p a profile with the given capacity free from origin on and reuses its
// memory.
func (p *Profile) Reset(origin Time, capacity int32) {
	p.small = true
	p.grown++
	p.array.reset(origin, capacity)
}

// Grown returns a number that changes whenever capacity may have been freed. While it is
// the same, a rectangle that did not fit before does not fit now.
func (p *Profile) Grown() uint64 { return p.grown }

// Clone returns an independent copy.
func (p *Profile) Clone() *Profile {
	c := &Profile{}
	c.CopyFrom(p)
	return c
}

// CopyFrom makes p a copy of q and reuses p's memory.
func (p *Profile) CopyFrom(q *Profile) {
	p.small, p.limit = q.small, q.limit
	p.grown++
	if q.small {
		p.array = append(p.array[:0], q.array...)
		return
	}
	p.tree.copyFrom(&q.tree)
}

// Len returns the number of steps.
func (p *Profile) Len() int {
	if p.small {
		return p.array.len() - 1
	}
	return p.tree.steps
}

// Origin returns the instant at which the profile begins.
func (p *Profile) Origin() Time {
	if p.small {
		return p.array[0].at
	}
	return p.tree.origin
}

// Free returns the free capacity at t, or at the origin if t is before it.
func (p *Profile) Free(t Time) int32 {
	t = max(t, p.Origin())
	if p.small {
		return p.array[p.array.holds(t)].free
	}
	return p.tree.seek(t).free
}

// Reserve takes width from start until end, Never for no end. The part before the origin
// is ignored.
func (p *Profile) Reserve(start, end Time, width int32) { p.change(start, end, -width) }

// Release frees what Reserve took, or a part of its time.
func (p *Profile) Release(start, end Time, width int32) { p.change(start, end, width) }

// Move moves the rectangle of d and width from old to new, which is not later. It returns
// the interval that the rectangle left and the highest free capacity in it; the interval
// is empty if from is not before to.
func (p *Profile) Move(old, new Time, d Duration, width int32) (from, to Time, most int32) {
	end := new.Add(d)
	from, to = max(old, end), old.Add(d)
	switch {
	case old == new:
		return to, to, 0
	case p.small:
		p.grown++
		_, at := p.array.change(0, new, min(old, end), -width)
		if from < to {
			most, _ = p.array.change(max(at-1, 0), from, to, width)
		}
		if p.array.len() > p.limit {
			p.plant()
		}
		return from, to, most
	}
	p.change(new, min(old, end), -width)
	if from < to {
		p.change(from, to, width)
		most = p.Highest(from, to)
	}
	return from, to, most
}

// Trim moves the origin forward to now and forgets the steps before it.
func (p *Profile) Trim(now Time) {
	if now <= p.Origin() {
		return
	}
	if p.small {
		p.array.trimTo(now)
		return
	}
	p.tree.trimTo(now)
	p.settle()
}

// Steps is an iter.Seq2 of the steps, beginning with the origin, and the free capacity
// from each on.
func (p *Profile) Steps(yield func(Time, int32) bool) {
	if !p.small {
		if yield(p.tree.origin, p.tree.base) {
			p.tree.each(yield)
		}
		return
	}
	for _, s := range p.array[:p.array.len()] {
		if !yield(s.at, s.free) {
			return
		}
	}
}

func (p *Profile) change(start, end Time, delta int32) {
	if start >= end || delta == 0 {
		return
	}
	if delta > 0 {
		p.grown++
	}
	if p.small {
		if p.array.change(0, start, end, delta); p.array.len() > p.limit {
			p.plant()
		}
		return
	}
	p.tree.add(start, delta)
	if end != Never {
		p.tree.add(end, -delta)
	}
	p.settle()
}

// plant turns the array into a tree.
func (p *Profile) plant() {
	a := p.array
	p.tree.reset(a[0].at, a[0].free)
	for i := 1; i < a.len(); i++ {
		p.tree.insert(a[i].at, a[i].free-a[i-1].free)
	}
	p.small = false
}

// settle turns the tree into an array again when it has become much smaller than at its
// creation.
func (p *Profile) settle() {
	if 4*p.tree.steps > p.limit || p.limit == 0 {
		return
	}
	p.array.reset(p.tree.origin, p.tree.base)
	p.tree.each(func(t Time, free int32) bool {
		p.array.push(t, free)
		return true
	})
	p.small = true
}
