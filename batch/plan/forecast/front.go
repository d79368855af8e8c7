package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// Exact is the number of waiting jobs of a queue that are run forward. The rest count by
// their work.
const Exact = 2000

// front is the first jobs of a queue, run forward.
type front struct {
	of       Queue // nil: no queue
	revision uint64
	until    batch.Time // the last instant at which a new run would be the same
	full     bool       // it holds the maximum: a new job is not in it
	size     int        // of the whole queue at the run
	waiting  int        // in the whole queue at the last ask
	rooms    []room
	levels   []profile.Level // of all rooms
	names    []batch.Handle  // by the handle of the run
	work     batch.Area      // of the jobs behind the front
}

// runQueue runs the front of a queue forward until it is empty and idle, and keeps the
// rooms of all passes. It reuses the last run if that is still valid.
func (f *Forecaster) runQueue(now batch.Time, q Queue) {
	fr, waiting := &f.front, q.Waiting()
	if fr.of != q || fr.revision != q.Revision() || now > fr.until ||
		!fr.full && waiting > fr.size+f.newcomers(fr.size) {
		f.runFront(now, q)
	} else if fr.waiting == waiting {
		return
	}
	fr.waiting, fr.work = waiting, batch.Area{}
	if fr.full || waiting > fr.size {
		fr.work = q.Work(fr.names[len(fr.names)-1], batch.NoJob)
	}
}

// newcomers is the number of jobs that may arrive after a run of the given size before
// another run.
func (f *Forecaster) newcomers(size int) int {
	if f.Slack == 0 {
		return 0
	}
	return size / f.Slack
}

func (f *Forecaster) runFront(now batch.Time, q Queue) {
	exact := f.exact
	if exact == 0 {
		exact = Exact
	}
	own, names := q.First(exact)
	fork := own.(Queue)
	r := f.launch(now, fork)
	fr := &f.front
	fr.rooms, fr.levels = fr.rooms[:0], fr.levels[:0]
	for t := now; t != batch.Never; t = r.next() {
		r.advance(t, batch.NoJob)
		first := len(fr.levels)
		fr.levels = fork.Room(t, fr.levels)
		fr.rooms = append(fr.rooms, newRoom(t, fr.levels, first))
		if len(fr.levels) <= first+2 { // a room has them itself
			fr.levels = fr.levels[:first]
		}
		if t == now {
			// An incoming job that starts here, but not yet in the queue itself, would
			// start later in a later run.
			if fr.until = now; len(r.pass.List) == 0 {
				fr.until = r.next() - 1
			}
		}
	}
	r.policy = nil
	fr.of, fr.revision, fr.names, fr.size = q, q.Revision(), names, q.Waiting()
	fr.full = fr.size >= exact
}

// behind returns the instant from which the machine has room if the given work uses
// every processor that the run leaves free from now on.
func (f *Forecaster) behind(now batch.Time, work batch.Area) batch.Time {
	if work == (batch.Area{}) {
		return now
	}
	rooms := f.front.rooms
	for i := range rooms {
		r, from := &rooms[i], max(rooms[i].at, now)
		last := i+1 == len(rooms)
		if r.free < 1 || !last && rooms[i+1].at <= from {
			continue
		}
		if last {
			return from.Add(work.Over(r.free))
		}
		space := batch.AreaOf(r.free, rooms[i+1].at.Sub(from))
		if work.Less(space) {
			return from.Add(work.Over(r.free))
		}
		work = work.Sub(space)
	}
	return batch.Never
}

// answerStanding answers an ask about a waiting job: from the run, or, if the job is not
// in it, by the work ahead of it.
func (f *Forecaster) answerStanding(now batch.Time, q Queue, a *batch.Ask, out *batch.Estimate) {
	h, names := a.Job.Handle, f.front.names
	switch i := slices.Index(names, h); {
	case i >= 0:
		fill(a, out, f.began[i])
	case q.Waits(h):
		f.answer(f.behind(now, q.Work(names[len(names)-1], h)), q, a, out)
	default:
		fill(a, out, batch.Never)
	}
}
