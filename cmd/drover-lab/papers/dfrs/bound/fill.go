package bound

import (
	"cmp"
	"slices"
)

// urge is a job and how long it could still be kept waiting.
type urge struct {
	slack int64
	node  int32
}

func (a urge) compare(b urge) int {
	return cmp.Or(cmp.Compare(a.slack, b.slack), cmp.Compare(a.node, b.node))
}

// urges are scratch of fill: the jobs with work due, the most urgent first,
// and three parts from which the next such list is merged.
type urges struct {
	after               []int64 // by cell: the time in all later ones
	all, ran, new, rest []urge
}

// fill gives out the cells in order of time, each first to the jobs that can
// wait least. That is not optimal (nothing that decides in order of time is),
// but leaves little to move, often nothing.
//
// A job that runs at full rate keeps its slack; a job that does not run loses as much as
// all others that do not. So both stay in order, and merging them replaces sorting.
func (n *network) fill() {
	u := &n.urges
	n.later()
	u.all = u.all[:0]
	next := 0 // the jobs are in order of their first cell
	for t := range int32(len(n.length)) {
		u.ran, u.new, u.rest = u.ran[:0], u.new[:0], u.rest[:0]
		for ; next < len(n.jobs) && n.jobs[next].first == t; next++ {
			u.new = append(u.new, n.urge(int32(next), t))
		}
		slices.SortFunc(u.new, urge.compare)
		u.rest = merge(u.rest, u.all, u.new)
		u.new = u.new[:0]
		waits := u.rest[:0]
		for _, a := range u.rest {
			j := &n.jobs[a.node]
			full := j.rate * n.length[t]
			amount := j.due.most(min(n.spare[t], full))
			if amount > 0 {
				n.give(a.node, t, amount)
			}
			switch {
			case j.due.zero() || j.last == t+1:
			case amount == full:
				u.ran = append(u.ran, a)
			case amount == 0:
				waits = append(waits, urge{a.slack - n.length[t], a.node})
			default:
				u.new = append(u.new, n.urge(a.node, t+1)) // at most one: the cell is full
			}
		}
		u.all = merge(u.all[:0], u.ran, waits)
		if len(u.new) > 0 {
			i, _ := slices.BinarySearchFunc(u.all, u.new[0], urge.compare)
			u.all = slices.Insert(u.all, i, u.new[0])
		}
	}
}

// later sets after.
func (n *network) later() {
	u := &n.urges
	u.after = zeros(u.after, len(n.length))
	for t := len(n.length) - 1; t > 0; t-- {
		u.after[t-1] = u.after[t] + n.length[t]
	}
}

// urge returns that of a job before cell t, one of its own.
func (n *network) urge(i, t int32) urge {
	j := &n.jobs[i]
	needs, _ := j.due.over(j.rate)
	return urge{n.length[t] + n.urges.after[t] - n.urges.after[j.last-1] - needs, i}
}

// merge appends to out what is in a and b, both in order.
func merge(out, a, b []urge) []urge {
	for len(a) > 0 && len(b) > 0 {
		if a[0].compare(b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// peel runs jobs at full rate wherever that takes nothing from anyone. Such
// intervals are free; what is left of the jobs has to go into the others.
type peel struct {
	free []bool  // by interval
	left []int64 // by job: the time at full rate that is left
	// entered is where the sweep's clock stood when job j came in, -1 while it
	// is not in.
	entered []int64
	ends    heap
}

// set starts again and sweeps until nothing is found any more: a job that is
// through in a later free interval is no longer in the way of the earlier ones.
func (p *peel) set(in *instance, w *windows) {
	p.free = append(p.free[:0], make([]bool, w.intervals())...)
	p.left, p.entered = p.left[:0], p.entered[:0]
	for _, j := range in.jobs {
		p.left, p.entered = append(p.left, j.length), append(p.entered, -1)
	}
	for p.sweep(in, w) {
	}
}

// sweep passes over the intervals in order of time and reports whether it freed
// any. Its clock counts the time it has freed, so that a job that came in at
// clock c with l left is through at c+l.
func (p *peel) sweep(in *instance, w *windows) bool {
	var clock, demand int64
	p.ends = p.ends[:0]
	leave := func(j int32) {
		if p.entered[j] >= 0 {
			p.left[j] = max(0, p.left[j]-(clock-p.entered[j]))
			p.entered[j] = -1
			demand -= in.jobs[j].rate
		}
	}
	found := false
	r, d := 0, 0
	for k := range w.intervals() {
		for ; d < len(w.byDeadline) && int(w.last[w.byDeadline[d]]) == k; d++ {
			leave(w.byDeadline[d])
		}
		for ; r < len(w.byRelease) && int(w.first[w.byRelease[r]]) == k; r++ {
			if j := w.byRelease[r]; p.left[j] > 0 {
				p.entered[j] = clock
				demand += in.jobs[j].rate
				p.ends.push(end{clock + p.left[j], j})
			}
		}
		if p.free[k] || demand > in.capacity {
			continue
		}
		p.free[k], found = true, true
		clock += w.at[k+1] - w.at[k]
		for len(p.ends) > 0 && p.ends[0].at <= clock {
			leave(p.ends.pop().job)
		}
	}
	for ; d < len(w.byDeadline); d++ {
		leave(w.byDeadline[d])
	}
	return found
}

// end is when, by the sweep's clock, a job is through.
type end struct {
	at  int64
	job int32
}

// heap has the earliest end first.
type heap []end

func (h *heap) push(e end) {
	*h = append(*h, e)
	s := *h
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if s[up].at <= s[i].at {
			return
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
}

func (h *heap) pop() end {
	s := *h
	top, n := s[0], len(s)-1
	s[0] = s[n]
	s = s[:n]
	*h = s
	for i := 0; ; {
		down := 2*i + 1
		if down >= n {
			return top
		}
		if down+1 < n && s[down+1].at < s[down].at {
			down++
		}
		if s[i].at <= s[down].at {
			return top
		}
		s[i], s[down] = s[down], s[i]
		i = down
	}
}
