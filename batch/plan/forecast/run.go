package forecast

import (
	"cmp"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// run is a copy of a policy that runs forward in time. Its jobs end at their walltimes.
type run struct {
	policy   batch.Runnable
	ends     *ends
	pass     *batch.Decisions
	began    *began
	incoming []batch.Handle
	edges    []edge // future openings and closings of reservations
	event    batch.Event
}

// launch returns a run of a copy that begins at now, before the pass of that instant. A
// job past its planned end continues until the next instant. Incoming jobs are confirmed
// at once: most will be, and are then ahead of others.
func (f *Forecaster) launch(now batch.Time, own batch.Runnable) *run {
	f.front.of = nil // its names are overwritten now
	f.ends.reset()
	f.began.reset(own.Unused())
	r := &f.run
	r.policy, r.ends, r.pass, r.began = own, &f.ends, &f.pass, &f.began
	for h, end := range own.Ends {
		r.ends.set(max(end, now+1), h)
	}
	r.foresee(own)
	r.incoming = slices.AppendSeq(r.incoming[:0], own.Incoming)
	for _, h := range r.incoming {
		r.tell(now, batch.Event{Kind: batch.Confirm, Job: h})
	}
	return r
}

// next returns the instant of the next pass, Never if there is none.
func (r *run) next() batch.Time {
	next := min(r.ends.next(), r.policy.Wake())
	if len(r.edges) > 0 {
		next = min(next, r.edges[0].at)
	}
	return next
}

// advance ends the jobs that are due at now and makes the passes of that instant. It
// reports whether job started in one of them.
//
// A paused or migrated job leaves its processors at once, and continues at once at its
// new allocation. Its progress is not reported: a policy that shares processors keeps
// its own account.
func (r *run) advance(now batch.Time, job batch.Handle) bool {
	for h := r.ends.pop(now); h != batch.NoJob; h = r.ends.pop(now) {
		r.tell(now, batch.Event{Kind: batch.Finish, Job: h})
	}
	r.turnWindows(now)
	started := false
	for again := true; again; {
		again = false
		r.pass.Reset()
		r.policy.Decide(now, r.pass)
		for i := range r.pass.List {
			d := &r.pass.List[i]
			started = started || d.Kind == batch.Start && d.Job == job
			if d.Kind == batch.Start || d.Kind == batch.Resume {
				r.began.note(d.Job, now)
			}
			if d.Kind == batch.Pause || d.Kind == batch.Kill {
				r.ends.remove(d.Job)
			} else {
				r.ends.set(r.policy.PlannedEnd(d.Job), d.Job)
			}
		}
		for i := range r.pass.List {
			switch d := &r.pass.List[i]; d.Kind {
			case batch.Pause:
				r.tell(now, batch.Event{Kind: batch.Stopped, Job: d.Job, Checkpoint: true})
			case batch.Resume:
				r.tell(now, batch.Event{Kind: batch.Resumed, Job: d.Job})
			case batch.Migrate:
				r.tell(now, batch.Event{Kind: batch.Stopped, Job: d.Job, Checkpoint: true})
				r.tell(now, batch.Event{Kind: batch.Resumed, Job: d.Job})
			case batch.Kill:
				r.tell(now, batch.Event{Kind: batch.Finish, Job: d.Job})
			default:
				continue
			}
			again = true
		}
	}
	return started
}

func (r *run) tell(now batch.Time, ev batch.Event) {
	r.event = ev
	r.policy.Apply(now, &r.event)
}

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

// settled applies to a copy the events that the driver still owes, and returns it. A run
// has no driver, and the duration of a pause or a migration is unknown.
func settled(now batch.Time, own batch.Runnable) batch.Runnable {
	owed := slices.Collect(own.Underway)
	for i := range owed {
		own.Apply(now, &owed[i])
	}
	return own
}
