package profile

// Profile is free capacity over time. Make one with New. With few steps it is an
// array, with many a tree.
type Profile struct {
	small bool // array is in use, not tree
	limit int  // steps of the array
	array array
	tree  tree
}

// New returns a profile with the given capacity free from origin on.
func New(origin Time, capacity int32) *Profile {
	p := &Profile{limit: arrayLimit}
	p.Reset(origin, capacity)
	return p
}

// Reset makes p a profile with the given capacity free from origin on, keeping
// its memory.
func (p *Profile) Reset(origin Time, capacity int32) {
	p.small = true
	p.array.reset(origin, capacity)
}

// Clone returns an independent copy.
func (p *Profile) Clone() *Profile {
	c := &Profile{}
	c.CopyFrom(p)
	return c
}

// CopyFrom makes p a copy of q, keeping p's memory.
func (p *Profile) CopyFrom(q *Profile) {
	p.small, p.limit = q.small, q.limit
	if q.small {
		p.array.time, p.array.free = append(p.array.time[:0], q.array.time...), append(p.array.free[:0], q.array.free...)
		return
	}
	p.tree.copyFrom(&q.tree)
}

// Len returns the number of steps.
func (p *Profile) Len() int {
	if p.small {
		return len(p.array.time) - 1
	}
	return p.tree.steps
}

// Origin returns the instant at which the profile begins.
func (p *Profile) Origin() Time {
	if p.small {
		return p.array.time[0]
	}
	return p.tree.origin
}

// Free returns what is free at t; before the origin, what is free there.
func (p *Profile) Free(t Time) int32 {
	t = max(t, p.Origin())
	if p.small {
		return p.array.free[p.array.at(t)]
	}
	return p.tree.seek(t).free
}

// Reserve takes width from start until end; an end of Never does not end. What
// lies before the origin is cut off.
func (p *Profile) Reserve(start, end Time, width int32) { p.change(start, end, -width) }

// Release gives back what Reserve took, or a part of its time.
func (p *Profile) Release(start, end Time, width int32) { p.change(start, end, width) }

// Move takes the rectangle of d and width that Reserve put at old to new, which
// is earlier. Where the two overlap nothing changes.
func (p *Profile) Move(old, new Time, d Duration, width int32) {
	p.change(new, min(old, new.Add(d)), -width)
	p.change(max(old, new.Add(d)), old.Add(d), width)
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

// Steps calls yield with each step, in order, and what is free from there on,
// beginning with the origin. It has the form of an iter.Seq2.
func (p *Profile) Steps(yield func(Time, int32) bool) {
	if !p.small {
		if yield(p.tree.origin, p.tree.base) {
			p.tree.each(yield)
		}
		return
	}
	for i, t := range p.array.time {
		if !yield(t, p.array.free[i]) {
			return
		}
	}
}

func (p *Profile) change(start, end Time, delta int32) {
	if start >= end || delta == 0 {
		return
	}
	if p.small {
		if p.array.change(start, end, delta); len(p.array.time) > p.limit {
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

// plant makes a tree of the array.
func (p *Profile) plant() {
	a := &p.array
	p.tree.reset(a.time[0], a.free[0])
	for i := 1; i < len(a.time); i++ {
		p.tree.insert(a.time[i], a.free[i]-a.free[i-1])
	}
	p.small = false
}

// settle makes the tree an array again when it has become much smaller than it
// was when it was planted.
func (p *Profile) settle() {
	if 4*p.tree.steps > p.limit || p.limit == 0 {
		return
	}
	p.array.reset(p.tree.origin, p.tree.base)
	p.tree.each(func(t Time, free int32) bool {
		p.array.time, p.array.free = append(p.array.time, t), append(p.array.free, free)
		return true
	})
	p.small = true
}
