package forecast

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// Exact is how many of those who wait in a queue are run forward. The rest count
// by their work.
const Exact = 2000

// front is the first jobs of a queue, run forward.
type front struct {
	of       Queue // nil: no queue
	revision uint64
	until    batch.Time // the last instant at which a run would show the same
	full     bool       // it holds as many as it may: who comes last is not one of them
	size     int        // of the whole queue when it was run
	waiting  int        // in the whole queue, at the last look
	rooms    []room
	levels   []profile.Level // of all rooms
	names    []batch.Handle  // by the handle of the run
	work     batch.Area      // of those behind
}

// runQueue runs the front of a queue forward until it is empty and idle, and keeps
// the rooms of all passes, unless the last run shows the same.
func (f *Forecaster) runQueue(now batch.Time, q Queue) {
	fr, waiting := &f.front, q.Waiting()
	if fr.of != q || fr.revision != q.Revision() || now > fr.until || !fr.full && waiting > fr.size+f.newcomers(fr.size) {
		f.runFront(now, q)
	} else if fr.waiting == waiting {
		return
	}
	fr.waiting, fr.work = waiting, batch.Area{}
	if fr.full || waiting > fr.size {
		fr.work = q.Work(fr.names[len(fr.names)-1], batch.NoJob)
	}
}

// newcomers is how many may come after a run of so many before there is another one.
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
			// Whoever starts here and has not in the queue itself, because he is
			// incoming, would start later in a later run.
			if fr.until = now; len(r.pass.List) == 0 {
				fr.until = r.next() - 1
			}
		}
	}
	r.policy = nil
	fr.of, fr.revision, fr.names, fr.size = q, q.Revision(), names, q.Waiting()
	fr.full = fr.size >= exact
}

// behind returns from when on the machine has room again if the given work uses
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

// answerStanding answers an ask about a job that waits: by the run, or, if it is
// not in it, by the work that stands before it.
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
