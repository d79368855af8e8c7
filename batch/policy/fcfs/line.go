package fcfs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// line is a run of the queue into the future, at its last start so far. All jobs that
// must start before a new one have started, except those with a later earliest start.
type line struct {
	at    batch.Time
	free  *profile.Profile // from at on; it never decreases, unless guarded
	later []item           // by earliest start, then order
	ready []item           // in order; used while a job is being placed

	guarded bool
}

// item is a waiting job.
type item struct {
	job      batch.Handle
	charge   int32
	walltime batch.Duration
	from     batch.Time // not before
	place    int        // position in the order
}

// fit returns the start of a job with no job ahead of it.
func (l *line) fit(from batch.Time, charge int32, d batch.Duration) batch.Time {
	if !l.guarded {
		d = 1
	}
	return l.free.Fit(max(l.at, from), d, charge)
}

// park makes a job, the last in the line, wait for its earliest start.
func (l *line) park(it item) {
	at := len(l.later)
	for at > 0 && l.later[at-1].from > it.from {
		at--
	}
	l.later = slices.Insert(l.later, at, it)
}

// join makes the next parked job ready.
func (l *line) join() {
	it := l.later[0]
	l.later = slices.Delete(l.later, 0, 1)
	l.at = max(l.at, it.from)
	at := len(l.ready)
	for at > 0 && l.ready[at-1].place > it.place {
		at--
	}
	l.ready = slices.Insert(l.ready, at, it)
}

// next starts the next ready job, or a parked job that becomes ready before it.
func (l *line) next() (item, batch.Time) {
	t := l.fit(0, l.ready[0].charge, l.ready[0].walltime)
	for len(l.later) > 0 && l.later[0].from <= t {
		l.join()
		t = l.fit(0, l.ready[0].charge, l.ready[0].walltime)
	}
	it := l.ready[0]
	l.ready = slices.Delete(l.ready, 0, 1)
	l.at = t
	if t != batch.Never { // otherwise no job behind it starts either
		l.free.Reserve(t, t.Add(it.walltime), it.charge)
		l.free.Trim(t)
	}
	return it, t
}

// copyFrom makes l a copy of m and reuses l's memory.
func (l *line) copyFrom(m *line) {
	if l.free == nil {
		l.free = m.free.Clone()
	} else {
		l.free.CopyFrom(m.free)
	}
	l.guarded, l.at, l.later, l.ready = m.guarded, m.at, append(l.later[:0], m.later...), l.ready[:0]
}

// starts computes, for each pair of charge (ascending) and length, the start of one
// more job at the end of the queue, not before from. It consumes the line.
func (l *line) starts(from batch.Time, charges []int32, shapes []batch.Shape, starts []batch.Time) {
	if l.guarded {
		l.startsBeside(from, charges, shapes, starts)
		return
	}
	for i := 0; i < len(charges); {
		t := l.fit(from, charges[i], 1)
		if len(l.later) == 0 || t < l.later[0].from {
			starts[i] = t
			i++
			continue
		}
		l.joinAll()
	}
}

// startsBeside is starts for a guarded line, in which a short wide job may start before
// a long narrow one.
func (l *line) startsBeside(from batch.Time, charges []int32, shapes []batch.Shape, starts []batch.Time) {
	for i := range starts {
		starts[i] = batch.Never
	}
	for left := len(starts); left > 0; l.joinAll() {
		for i, found := range starts {
			if found != batch.Never {
				continue
			}
			t := l.fit(from, charges[i], shapes[i].Walltime)
			if len(l.later) == 0 || t < l.later[0].from {
				starts[i] = t
				left--
			}
		}
		if len(l.later) == 0 {
			return
		}
	}
}

// joinAll starts the next parked job and all that become ready before it.
func (l *line) joinAll() {
	for l.join(); len(l.ready) > 0; {
		l.next()
	}
}

// standing returns the start of a parked job if no other job arrives. It consumes the
// line.
func (l *line) standing(job batch.Handle) batch.Time {
	for len(l.later) > 0 {
		for l.join(); len(l.ready) > 0; {
			if it, t := l.next(); it.job == job {
				return t
			}
		}
	}
	return batch.Never
}
