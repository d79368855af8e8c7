package roster

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/policy/convergent/farm"
)

// Estimate leaves it to a forecaster, for a plan says who is where now, not who comes next;
// unless that were too much work.
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

// PlannedEnd returns when a job ends if it goes on where it is. One that has overrun its
// estimate is about to.
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

// AnswerFixed says of windows and of agreements that they cannot be had.
func (r *Roster) AnswerFixed(_ batch.Time, a *batch.Ask, out *batch.Estimate) bool {
	return counted.Refuse(a, out)
}

// Unused returns a handle that names no job.
func (r *Roster) Unused() batch.Handle { return batch.Handle(len(r.jobs)) }

// Worth returns Forecast: whoever comes later may go first.
func (r *Roster) Worth() batch.Kind { return batch.Forecast }

// Underway calls yield with what the driver still owes: that those who were told to leave
// have left, and that those who were resumed go on. Who is stranded is as good as gone.
func (r *Roster) Underway(yield func(batch.Event) bool) {
	for i := range r.jobs {
		h, j := batch.Handle(i), &r.jobs[i]
		if j.state == absent {
			continue
		}
		if (j.leaving != none || j.stranded) && !yield(batch.Event{Kind: batch.Stopped, Job: h, Checkpoint: !j.stranded}) {
			return
		}
		if j.awaited && !j.stranded && !yield(batch.Event{Kind: batch.Resumed, Job: h}) {
			return
		}
	}
}
