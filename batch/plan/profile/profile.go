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

// Fit returns the earliest start at or after from, and not before the origin, at which
// width is free for d; Never if there is none.
func (p *Profile) Fit(from Time, d Duration, width int32) Time {
	return p.FitBefore(from, Never, d, width)
}

// FitBefore returns the earliest start in [from, until) at which width is free for d or
// up to until, whichever is shorter; Never if there is none.
//
// A rectangle that begins at until can so ask whether it could begin earlier without
// being removed: from until on it would only overlap itself.
func (p *Profile) FitBefore(from, until Time, d Duration, width int32) Time {
	return p.FitWithin(from, until, until, d, width)
}

// FitWithin is FitBefore for starts in [from, latest) only, where latest is not
// after until.
func (p *Profile) FitWithin(from, latest, until Time, d Duration, width int32) Time {
	if from = max(from, p.Origin()); from >= latest {
		return Never
	}
	if p.small {
		return p.array.fit(from, latest, until, d, width)
	}
	return p.tree.fit(from, latest, until, d, width)
}

// Highest returns the highest free capacity in [from, to), which is not empty.
func (p *Profile) Highest(from, to Time) int32 {
	from = max(from, p.Origin())
	if p.small {
		return p.array.highest(from, to)
	}
	return p.tree.highest(from, to)
}

// Lowest returns the lowest free capacity in [from, to), which is not empty.
func (p *Profile) Lowest(from, to Time) int32 {
	from = max(from, p.Origin())
	if p.small {
		return p.array.lowest(from, to)
	}
	return p.tree.lowest(from, to)
}

// Until returns the first instant at or after from at which less than width is
// free; Never if there is none.
func (p *Profile) Until(from Time, width int32) Time {
	from = max(from, p.Origin())
	if p.small {
		a := p.array
		i := a.holds(from)
		if a[i].free < width {
			return from
		}
		for i++; i < a.len(); i++ {
			if a[i].free < width {
				return a[i].at
			}
		}
		return Never
	}
	c := p.tree.seek(from)
	if c.free < width {
		return from
	}
	if !c.advance(width, true, Never) {
		return Never
	}
	return c.time()
}

// Level is a free capacity and the end of the time for which at least that much stays
// free.
type Level struct {
	Free  int32
	Until Time
}

// Levels appends the capacity that stays free from an instant on. Each level has less
// capacity than the one before and lasts longer; the last one lasts for ever.
//
//	free   ┌───┐
//	    ───┘   │             levels from here on: 4 until t2, 3 until t3,
//	    4    3 └──┐  ┌───    1 for ever
//	             1└──┘
//	    from   t2 t3
//
// A rectangle that begins at that instant fits if it is within a level's capacity and
// ends by its end.
func (p *Profile) Levels(from Time, out []Level) []Level {
	from = max(from, p.Origin())
	if p.small {
		return p.array.levels(from, out)
	}
	return p.tree.levels(from, out)
}
