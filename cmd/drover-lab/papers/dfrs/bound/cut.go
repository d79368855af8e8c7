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

// violated tells whether the jobs must do more in the parts than they hold, and
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
