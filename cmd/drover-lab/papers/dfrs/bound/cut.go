package bound

import (
	"cmp"
	"slices"
	"sort"
)

// cut is why a stretch is too small: some stretches of the axis, and jobs that
// must do more in them than they hold. A job must do there what it cannot do in
// the rest of its window.
type cut struct {
	parts   []part
	members []int32

	spans []rangeOf // scratch
}

// part is a piece of the axis. Its ends are names, not times: a deadline moves
// with the stretch, and takes the end of the piece along.
type part struct{ from, to mark }

// mark is a release or a deadline of a job.
type mark struct {
	job int32
	due bool
}

// rangeOf is where a part lies for some stretch, and how much lies before it.
type rangeOf struct{ from, to, before int64 }

// set takes the cut that the flow ended at.
func (c *cut) set(w *windows, cells *cells, n *network) {
	c.parts, c.members = c.parts[:0], c.members[:0]
	for i := range n.jobs {
		if n.flow.jobLevel[i] >= 0 {
			c.members = append(c.members, n.jobs[i].job)
		}
	}
	open := false
	for k := range w.intervals() {
		t := cells.cellOf[k] - n.first
		if cells.cellOf[k] < n.first || int(t) >= len(n.length) || n.flow.cellLevel[t] < 0 {
			open = false
			continue
		}
		if !open {
			c.parts = append(c.parts, part{from: w.mark(k, false)})
			open = true
		}
		c.parts[len(c.parts)-1].to = w.mark(k+1, true)
	}
}

// mark names boundary k, by a deadline or by a release if there are both.
func (w *windows) mark(k int, due bool) mark {
	if w.released[k] < 0 || due && w.due[k] >= 0 {
		return mark{w.due[k], true}
	}
	return mark{w.released[k], false}
}

func (c *cut) when(in *instance, m mark, stretch int64) int64 {
	if m.due {
		return in.deadline(&in.jobs[m.job], stretch)
	}
	return in.jobs[m.job].release
}

// violated reports whether the jobs must do more in the parts than they hold, and
// hence that no schedule has this stretch.
func (c *cut) violated(in *instance, stretch int64) bool {
	c.lay(in, stretch)
	var held, must wide
	if n := len(c.spans); n > 0 {
		held = product(in.capacity, c.spans[n-1].before+c.spans[n-1].to-c.spans[n-1].from)
	}
	for _, m := range c.members {
		j := &in.jobs[m]
		due := in.deadline(j, stretch)
		elsewhere := due - j.release - (c.measure(due) - c.measure(j.release))
		if j.length > elsewhere {
			must = must.add(product(j.rate, j.length-elsewhere))
		}
	}
	return must.above(held)
}

// lay sets the spans: the parts in order, joined where they overlap.
func (c *cut) lay(in *instance, stretch int64) {
	c.spans = c.spans[:0]
	for _, p := range c.parts {
		if from, to := c.when(in, p.from, stretch), c.when(in, p.to, stretch); from < to {
			c.spans = append(c.spans, rangeOf{from: from, to: to})
		}
	}
	slices.SortFunc(c.spans, func(a, b rangeOf) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	kept := c.spans[:0]
	var before int64
	for _, s := range c.spans {
		if n := len(kept); n > 0 && s.from <= kept[n-1].to {
			kept[n-1].to = max(kept[n-1].to, s.to)
			continue
		}
		if n := len(kept); n > 0 {
			before += kept[n-1].to - kept[n-1].from
		}
		s.before = before
		kept = append(kept, s)
	}
	c.spans = kept
}

// measure returns how much of the spans lies before an instant.
func (c *cut) measure(at int64) int64 {
	i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].from >= at })
	if i == 0 {
		return 0
	}
	s := c.spans[i-1]
	return s.before + min(s.to, at) - s.from
}

// last returns a stretch, as large as is found at little cost, that the cut
// rules out; it is known to rule out this one.
func (c *cut) last(in *instance, stretch int64) int64 {
	step := max(1, stretch>>8)
	for stretch+step < in.ceiling && c.violated(in, stretch+step) {
		stretch += step
		step *= 2
	}
	for step /= 2; step > 0; step /= 2 {
		if stretch+step < in.ceiling && c.violated(in, stretch+step) {
			stretch += step
		}
	}
	return stretch
}

// cells are the intervals that peeling left, joined where the same jobs may run
// in both, however far apart they are.
type cells struct {
	length []int64
	// before[k] is how many cells there are before interval k; an interval that
	// is not free lies in the cells from before[k], or in the one that ends
	// there.
	before []int32
	cellOf []int32 // by interval: its first cell, -1 for a free one
	spans  []span  // the jobs with work left, by release
	edge   []bool  // scratch: whether such a job's window starts or ends there
}

// span is a job with the cells from first to last, without the latter.
type span struct {
	job         int32
	first, last int32
	left        int64
}

func (c *cells) set(in *instance, w *windows, p *peel) {
	c.length, c.before, c.cellOf, c.spans = c.length[:0], c.before[:0], c.cellOf[:0], c.spans[:0]
	c.edge = append(c.edge[:0], make([]bool, len(w.at))...)
	for j := range in.jobs {
		if p.left[j] > 0 {
			c.edge[w.first[j]], c.edge[w.last[j]] = true, true
		}
	}
	apart := true
	for k := range w.intervals() {
		apart = apart || c.edge[k]
		// A free interval counts in no cell, but an edge inside it does.
		c.before = append(c.before, int32(len(c.length)))
		if p.free[k] {
			c.cellOf = append(c.cellOf, -1)
			continue
		}
		rest := w.at[k+1] - w.at[k]
		if n := len(c.length); !apart && c.length[n-1]+rest <= in.longest {
			c.length[n-1] += rest
			c.cellOf = append(c.cellOf, int32(n-1))
			continue
		}
		c.cellOf = append(c.cellOf, int32(len(c.length)))
		for ; rest > 0; rest -= min(rest, in.longest) {
			c.length = append(c.length, min(rest, in.longest))
		}
		apart = false
	}
	c.before = append(c.before, int32(len(c.length)))
	for _, j := range w.byRelease {
		if p.left[j] > 0 {
			c.spans = append(c.spans, span{j, c.before[w.first[j]], c.before[w.last[j]], p.left[j]})
		}
	}
}
