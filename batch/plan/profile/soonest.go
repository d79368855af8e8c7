package profile

// Soonest finds the shape that can end first, without the starts of the others. It is
// scratch memory: keep one and reuse it.
//
// Durations decrease with width, so among shapes that fit since the same instant the
// widest ends first. A wider shape that fits only since later matters if it would end
// before the narrower ones; it is also the first to go when free capacity drops. So a
// stack holds shapes from narrow to wide, each of which would end before the one below.
//
//	free    ┌───────┐          would end
//	     ┌──┘2 fits │          1, since t0   ──────────────┤
//	  ───┘ 1 fits   └───       2, since t1      ────────┤
//	  t0   t1      t2  now                             ▲ the answer, if free
//	                                                     capacity lasts so long
//
// The search ends when the top shape has completed; later steps are not read.
type Soonest struct {
	stack []chance

	widths    []int32
	durations []Duration
	end       Time  // when the top would end; Never without one
	low       int32 // below this the top does not fit; 0 without one
	high      int32 // from this on a wider shape fits that has not been looked at
}

// chance is a run of shapes that fit since the same instant. The widest would end first;
// the others replace it when capacity drops.
type chance struct {
	lo, top int32
	since   Time
	end     Time // of the top
}

// unreached is a capacity above that of any machine.
const unreached = 1<<31 - 1

// Of returns the index of the rectangle of widths[i] and durations[i] that ends first if
// each is placed at its earliest start at or after from, the narrowest of several, and
// that start; Never if none fits. Widths do not decrease, and durations decrease
// strictly.
func (s *Soonest) Of(p *Profile, from Time, widths []int32, durations []Duration) (i int, start Time) {
	if len(widths) == 0 {
		return 0, Never
	}
	s.stack, s.widths, s.durations = s.stack[:0], widths, durations
	s.end, s.low, s.high = Never, 0, widths[0]
	if from = max(from, p.Origin()); p.small {
		s.array(p.array, from)
	} else {
		s.tree(&p.tree, from)
	}
	return s.answer()
}

func (s *Soonest) array(a array, from Time) {
	at := a.holds(from)
	s.step(from, a[at].free)
	for _, x := range a[at+1 : a.len()] {
		if s.end <= x.at {
			return
		}
		if x.free < s.low || x.free >= s.high {
			s.step(x.at, x.free)
		}
	}
}

func (s *Soonest) tree(p *tree, from Time) {
	c := p.seek(from)
	s.step(from, c.free)
	free, first := c.free, c.i+1
	for at := c.leaf; at >= 0; at = p.leaves[at].next {
		l := &p.leaves[at]
		for i := first; i < l.n; i++ {
			t := l.time[i&(leafSize-1)]
			if s.end <= t {
				return
			}
			free += l.change[i&(leafSize-1)]
			if free < s.low || free >= s.high {
				s.step(t, free)
			}
		}
		first = 0
	}
}

// step advances to the step at t.
func (s *Soonest) step(t Time, free int32) {
	if free < s.low {
		s.drop(free)
		return
	}
	if free < s.high {
		return
	}
	fits := fitting(s.widths, free)
	lo := int32(0)
	if n := len(s.stack); n > 0 {
		lo = s.stack[n-1].top + 1
	}
	if end := t.Add(s.durations[fits-1]); end < s.end || len(s.stack) == 0 {
		s.stack = append(s.stack, chance{lo, fits - 1, t, end})
		s.end, s.low = end, s.widths[fits-1]
	}
	s.high = s.wider(fits)
}

// drop removes the shapes that no longer fit.
func (s *Soonest) drop(free int32) {
	n := len(s.stack)
	for n > 0 && s.widths[s.stack[n-1].lo] > free {
		n--
	}
	if n > 0 && s.widths[s.stack[n-1].top] > free {
		c := &s.stack[n-1]
		c.top = fitting(s.widths, free) - 1
		c.end = c.since.Add(s.durations[c.top])
		if n > 1 && c.end >= s.stack[n-2].end {
			n--
		}
	}
	s.stack = s.stack[:n]
	if n == 0 {
		s.end, s.low, s.high = Never, 0, s.widths[0]
		return
	}
	top := &s.stack[n-1]
	s.end, s.low, s.high = top.end, s.widths[top.top], s.wider(top.top+1)
}

// wider returns the width of shape i, unreached if there is none.
func (s *Soonest) wider(i int32) int32 {
	if int(i) == len(s.widths) {
		return unreached
	}
	return s.widths[i]
}

// answer returns the top.
func (s *Soonest) answer() (int, Time) {
	n := len(s.stack)
	if n == 0 {
		return 0, Never
	}
	c := s.stack[n-1]
	for c.top > c.lo && c.since.Add(s.durations[c.top-1]) == c.end { // both Never
		c.top--
	}
	return int(c.top), c.since
}
