package bound

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
