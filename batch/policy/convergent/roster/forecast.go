package roster

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Estimate returns the roster for a forecast, because a plan contains no future starts. If a
// forecast is too expensive, Estimate answers by an outlook.
func (r *Roster) Estimate(now batch.Time, asks []batch.Ask, out []batch.Estimate) batch.Runnable {
	if r.small() {
		return r
	}
	r.look(now, asks, out)
	return nil
}

// Ends calls yield with each job that holds a machine and its expected end.
func (r *Roster) Ends(yield func(batch.Handle, batch.Time) bool) {
	for i := range r.jobs {
		j := &r.jobs[i]
		if j.state != absent && j.holds() != none && !yield(batch.Handle(i), r.PlannedEnd(batch.Handle(i))) {
			return
		}
	}
}

// PlannedEnd returns the end of a job that continues on its machine. A job that has overrun its
// estimate is about to end.
func (r *Roster) PlannedEnd(h batch.Handle) batch.Time {
	j := &r.jobs[h]
	machine := j.holds()
	if machine == none {
		return batch.Never
	}
	rest := farm.Job{Estimate: j.estimate, Done: j.done, Reference: j.reference}
	return j.since.Add(rest.On(r.machines[machine].Score))
}

// Incoming calls yield with each job that is reserved and not confirmed.
func (r *Roster) Incoming(yield func(batch.Handle) bool) {
	for i := range r.jobs {
		if r.jobs[i].state == incoming && !yield(batch.Handle(i)) {
			return
		}
	}
}

// Reservations yields nothing: a farm makes none.
func (r *Roster) Reservations(func(batch.Reservation) bool) {}

// AnswerFixed refuses asks for windows and for agreed deadlines.
func (r *Roster) AnswerFixed(_ batch.Time, a *batch.Ask, out *batch.Estimate) bool {
	return counted.Refuse(a, out)
}

// Unused returns a handle that names no job.
func (r *Roster) Unused() batch.Handle { return batch.Handle(len(r.jobs)) }

// Worth returns Forecast: a later job can go first.
func (r *Roster) Worth() batch.Kind { return batch.Forecast }

// Underway calls yield with the events that the driver still owes: Stopped for jobs that must
// leave, and Resumed for jobs that were resumed. It treats stranded jobs as lost.
func (r *Roster) Underway(yield func(batch.Event) bool) {
	for i := range r.jobs {
		h, j := batch.Handle(i), &r.jobs[i]
		if j.state == absent {
			continue
		}
		stopped := batch.Event{Kind: batch.Stopped, Job: h, Checkpoint: !j.stranded}
		if (j.leaving != none || j.stranded) && !yield(stopped) {
			return
		}
		if j.awaited && !j.stranded && !yield(batch.Event{Kind: batch.Resumed, Job: h}) {
			return
		}
	}
}
