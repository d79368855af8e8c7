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

// urges are scratch of fill: those who have work due, the most urgent first,
// and three parts from which the next such list is merged.
type urges struct {
	after               []int64 // by cell: the time in all later ones
	all, ran, new, rest []urge
}

// fill gives out the cells in order of time, each first to the jobs that can
// wait least. That is not optimal (nothing that decides in order of time is),
// but leaves little to move, often nothing.
//
// Who runs at full rate keeps its slack, who does not run loses as much as all
// others that do not. So both stay in order, and merging them replaces sorting.
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
