package fcfs

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// line is a queue on its way into the future, at the last start so far. All who
// have to start before a job that comes last have started, but those whose
// earliest start is later.
type line struct {
	at    batch.Time
	free  *profile.Profile // from at on; it never gets less, unless guarded
	later []item           // by earliest start, then place
	ready []item           // in order; only while somebody is being placed

	guarded bool
}

// item is a job that waits.
type item struct {
	job      batch.Handle
	charge   int32
	walltime batch.Duration
	from     batch.Time // not before
	place    int        // in the order
}

// fit returns when a job that nobody stands before would start.
func (l *line) fit(from batch.Time, charge int32, d batch.Duration) batch.Time {
	if !l.guarded {
		d = 1
	}
	return l.free.Fit(max(l.at, from), d, charge)
}

// park has a job wait for its earliest start. Nobody in the line comes behind it.
func (l *line) park(it item) {
	at := len(l.later)
	for at > 0 && l.later[at-1].from > it.from {
		at--
	}
	l.later = slices.Insert(l.later, at, it)
}

// join makes the next of the parked ones ready.
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

// next starts the next of those who are ready, or whoever comes in before.
func (l *line) next() (item, batch.Time) {
	t := l.fit(0, l.ready[0].charge, l.ready[0].walltime)
	for len(l.later) > 0 && l.later[0].from <= t {
		l.join()
		t = l.fit(0, l.ready[0].charge, l.ready[0].walltime)
	}
	it := l.ready[0]
	l.ready = slices.Delete(l.ready, 0, 1)
	l.at = t
	if t != batch.Never { // else nor does anybody behind it
		l.free.Reserve(t, t.Add(it.walltime), it.charge)
		l.free.Trim(t)
	}
	return it, t
}

// copyFrom makes l a copy of m, keeping l's memory.
func (l *line) copyFrom(m *line) {
	if l.free == nil {
		l.free = m.free.Clone()
	} else {
		l.free.CopyFrom(m.free)
	}
	l.guarded, l.at, l.later, l.ready = m.guarded, m.at, append(l.later[:0], m.later...), l.ready[:0]
}

// starts writes when jobs of so many processors, in ascending order, and so long would
// start if one of them came last and not before from. It uses the line up.
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

// startsBeside is starts for a guarded line: a wide job that is short may start before
// a narrow one that is long.
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

// joinAll starts the next of the parked ones, and whoever comes in before.
func (l *line) joinAll() {
	for l.join(); len(l.ready) > 0; {
		l.next()
	}
}

// standing returns when a parked job starts if nobody else comes. It uses the line
// up.
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
