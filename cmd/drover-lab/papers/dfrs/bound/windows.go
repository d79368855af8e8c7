package bound

import (
	"cmp"
	"slices"
)

// windows is the time axis for one stretch. Every release and every deadline cuts it,
// so the same jobs can run during all of an interval.
type windows struct {
	byRelease  []int32 // jobs
	byDeadline []int32
	deadline   []int64 // by job
	at         []int64 // where interval i starts; one more at the end
	// released and due are a job with its release or deadline at at[i], or -1.
	released, due []int32
	// Job j can run in the intervals from first[j] up to, but not including, last[j].
	first, last []int32
}

func newWindows(in *instance) *windows {
	n := len(in.jobs)
	w := &windows{
		byRelease: make([]int32, n), byDeadline: make([]int32, n),
		deadline: make([]int64, n), first: make([]int32, n), last: make([]int32, n),
	}
	for i := range w.byRelease {
		w.byRelease[i] = int32(i)
	}
	slices.SortFunc(w.byRelease, func(a, b int32) int {
		return cmp.Or(cmp.Compare(in.jobs[a].release, in.jobs[b].release), cmp.Compare(a, b))
	})
	copy(w.byDeadline, w.byRelease)
	return w
}

// set computes the windows of a stretch. It starts from the deadline order of the
// previous stretch, which is nearly sorted.
func (w *windows) set(in *instance, stretch int64) {
	for i := range in.jobs {
		w.deadline[i] = in.deadline(&in.jobs[i], stretch)
	}
	slices.SortFunc(w.byDeadline, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.deadline[a], w.deadline[b]), cmp.Compare(a, b))
	})
	w.at, w.released, w.due = w.at[:0], w.released[:0], w.due[:0]
	for r, d := 0, 0; d < len(w.byDeadline); {
		now := w.deadline[w.byDeadline[d]]
		if r < len(w.byRelease) {
			now = min(now, in.jobs[w.byRelease[r]].release)
		}
		k := int32(len(w.at))
		w.at, w.released, w.due = append(w.at, now), append(w.released, -1), append(w.due, -1)
		for ; r < len(w.byRelease) && in.jobs[w.byRelease[r]].release == now; r++ {
			w.first[w.byRelease[r]], w.released[k] = k, w.byRelease[r]
		}
		for ; d < len(w.byDeadline) && w.deadline[w.byDeadline[d]] == now; d++ {
			w.last[w.byDeadline[d]], w.due[k] = k, w.byDeadline[d]
		}
	}
}

// intervals returns the number of intervals.
func (w *windows) intervals() int { return len(w.at) - 1 }
