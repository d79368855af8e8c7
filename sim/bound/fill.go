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

// fill gives out the cells in order of time, each first to the jobs that can
// wait least. That is not optimal (nothing that decides in order of time is),
// but leaves little to move, often nothing.
func (n *network) fill() {
	// room is the time in the cells from t on.
	var room int64
	for _, l := range n.length {
		room += l
	}
	after := n.flow.after[:0] // by cell: the time in all later ones
	for _, l := range n.length {
		room -= l
		after = append(after, room)
	}
	n.flow.after = after
	for t := range int32(len(n.length)) {
		n.order = n.order[:0]
		for _, i := range n.members[n.start[t]:n.start[t+1]] {
			j := &n.jobs[i]
			if j.due.zero() {
				continue
			}
			needs, _ := j.due.over(j.rate)
			n.order = append(n.order, urge{n.length[t] + after[t] - after[j.last-1] - needs, i})
		}
		slices.SortFunc(n.order, func(a, b urge) int {
			return cmp.Or(cmp.Compare(a.slack, b.slack), cmp.Compare(a.node, b.node))
		})
		for _, u := range n.order {
			if n.spare[t] == 0 {
				break
			}
			j := &n.jobs[u.node]
			n.give(u.node, t, j.due.most(min(n.spare[t], j.rate*n.length[t])))
		}
	}
}
