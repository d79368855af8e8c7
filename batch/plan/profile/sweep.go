package profile

import "sort"

// Sweep finds the earliest starts of many shapes in one pass over a profile. It is
// scratch memory: keep one and reuse it.
//
// Shapes are sorted by width, so at each step the shapes that fit are a prefix of the
// list. Those that fit since the same instant are adjacent, and wider ones fit since
// later: a stack of runs.
//
//	free  ┌─┐            shapes  0 1 2 3 4 5
//	    ┌─┘ │ ┌──        runs    └─t0──┘ └t2┘     at the last step: shapes
//	  ──┘   └─┘                                   0..3 fit since t0, 4 and 5 since t2
//	  t0  t1 t2
//
// When free capacity drops, the runs above it are closed: each shape in them without a
// start with a duration of at most the run's length starts where the run began.
type Sweep struct {
	runs []run
	// open[i+1] leads to the widest shape up to i without a start: it is i+1 if shape i
	// has none, otherwise the next index to follow. open[0] is 0.
	open []int32
}

// run is the shapes that fit since the same instant: from lo up to the next run's lo.
type run struct {
	lo    int32
	since Time
}

// Starts sets starts[i] to p.Fit(from, durations[i], widths[i]) for all i in one pass.
// Widths do not decrease. The three slices have the same length.
func (s *Sweep) Starts(p *Profile, from Time, widths []int32, durations []Duration, starts []Time) {
	n := int32(len(widths))
	if n == 0 {
		return
	}
	s.begin(n)
	falling := true
	for i, d := range durations {
		starts[i] = Never
		falling = falling && (i == 0 || d <= durations[i-1])
	}
	m := menu{s: s, widths: widths, durations: durations, starts: starts, falling: falling, least: widths[0]}
	if p.small {
		m.array(p.array, max(from, p.Origin()))
	} else {
		m.tree(&p.tree, max(from, p.Origin()))
	}
}

// menu is the state of one sweep.
type menu struct {
	s         *Sweep
	widths    []int32
	durations []Duration
	starts    []Time
	falling   bool  // no shape takes longer than a narrower one
	fits      int32 // number of shapes that fit now
	// Shapes below low, those narrower than least, have starts; steps that concern only
	// them are skipped.
	low   int32
	least int32
}

func (m *menu) array(a array, from Time) {
	i := a.holds(from)
	m.open(from, a[i].free)
	for _, x := range a[i+1 : a.len()] {
		if x.free >= m.least || m.fits > m.low {
			if !m.step(x.at, x.free) {
				return
			}
		}
	}
	m.end()
}

func (m *menu) tree(p *tree, from Time) {
	c := p.seek(from)
	m.open(from, c.free)
	free, first := c.free, c.i+1
	for at := c.leaf; at >= 0; at = p.leaves[at].next {
		l := &p.leaves[at]
		for i := first; i < l.n; i++ {
			free += l.change[i&(leafSize-1)]
			if free >= m.least || m.fits > m.low {
				if !m.step(l.time[i&(leafSize-1)], free) {
					return
				}
			}
		}
		first = 0
	}
	m.end()
}

// open begins with the free capacity at from.
func (m *menu) open(from Time, free int32) {
	if m.fits = fitting(m.widths, free); m.fits > 0 {
		m.s.runs = append(m.s.runs, run{0, from})
	}
}

// step advances to the step at t. It returns false when every shape has a start.
func (m *menu) step(t Time, free int32) bool {
	now := max(m.low, fitting(m.widths, free))
	switch {
	case now > m.fits:
		m.s.runs = append(m.s.runs, run{m.fits, t})
	case now < m.fits:
		m.close(now, t)
		n := int32(len(m.starts))
		for m.low < n && m.starts[m.low] != Never {
			m.low++
		}
		if m.low == n {
			return false
		}
		m.least, now = m.widths[m.low], max(m.low, now)
	}
	m.fits = now
	return true
}

// end closes all runs: nothing changes after the last step.
func (m *menu) end() { m.close(m.low, Never) }

func (s *Sweep) begin(n int32) {
	s.runs = s.runs[:0]
	if cap(s.open) < int(n)+1 {
		s.open = make([]int32, n+1)
	}
	s.open = s.open[:n+1]
	for i := range s.open {
		s.open[i] = int32(i)
	}
}

// close ends the runs of the shapes from lo up to those that fit at t.
func (m *menu) close(lo int32, t Time) {
	s := m.s
	for hi := m.fits; hi > lo; {
		r := s.runs[len(s.runs)-1]
		if r.lo >= lo {
			s.runs = s.runs[:len(s.runs)-1]
		}
		bottom, length := max(r.lo, lo), t.Sub(r.since)
		for i := s.widest(hi); i > bottom; i = s.widest(i - 1) {
			if m.durations[i-1] <= length {
				m.starts[i-1] = r.since
				s.open[i] = i - 1
			} else if m.falling {
				break // narrower shapes take as long or longer
			}
		}
		hi = bottom
	}
}

// widest returns the position, plus one, of the widest shape below i without a
// start; 0 if there is none.
func (s *Sweep) widest(i int32) int32 {
	top := i
	for s.open[top] != top {
		top = s.open[top]
	}
	for s.open[i] != top && i != top {
		s.open[i], i = top, s.open[i]
	}
	return top
}

// fitting returns the number of the ascending widths that are at most free.
func fitting(widths []int32, free int32) int32 {
	n := int32(len(widths))
	if widths[n-1] <= free {
		return n
	}
	// Most menus hold all widths from 1 up: there the answer is free itself.
	if free > 0 && free < n && widths[free-1] == free && widths[free] > free {
		return free
	}
	return int32(sort.Search(int(n), func(i int) bool { return widths[i] > free }))
}
