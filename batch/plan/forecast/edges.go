package forecast

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// edge is the opening or closing of a reservation. At one instant closings come first.
type edge struct {
	at   batch.Time
	kind batch.EventKind
	job  batch.Handle
}

// foresee records when the reservations of a policy open and close.
func (r *run) foresee(own batch.Runnable) {
	r.edges = r.edges[:0]
	for w := range own.Reservations {
		if !w.Open {
			r.edges = append(r.edges, edge{w.Start, batch.WindowOpen, w.Job})
		}
		r.edges = append(r.edges, edge{w.End, batch.WindowClose, w.Job})
	}
	slices.SortStableFunc(r.edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.kind, a.kind))
	})
}

// turnWindows closes and opens due reservations.
func (r *run) turnWindows(now batch.Time) {
	for len(r.edges) > 0 && r.edges[0].at <= now {
		e := r.edges[0]
		r.edges = r.edges[1:]
		r.tell(now, batch.Event{Kind: e.kind, Job: e.job})
	}
}
