package dfrs

import (
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
)

// Estimate leaves the answer to a forecaster: DFRS does not plan.
func (p *Policy) Estimate(batch.Time, []batch.Ask, []batch.Estimate) batch.Runnable { return p }

// Ends calls yield with each running job and its expected end. A job that was ordered to
// leave counts as running until it has left.
func (p *Policy) Ends(yield func(batch.Handle, batch.Time) bool) {
	for i := range p.jobs {
		j := &p.jobs[i]
		if (j.running || len(j.gone) > 0) && !yield(batch.Handle(i), p.PlannedEnd(batch.Handle(i))) {
			return
		}
	}
}

// PlannedEnd returns the end of a job at its current yield.
func (p *Policy) PlannedEnd(h batch.Handle) batch.Time {
	j := &p.jobs[h]
	y := j.yield
	if y == 0 {
		if y = j.held; y == 0 {
			return batch.Never
		}
	}
	left := p.history.length(j) - j.virtual
	return j.since.Add(left.Times(int64(batch.One), int64(y)))
}

// Incoming calls yield with each job that is reserved and not confirmed.
func (p *Policy) Incoming(yield func(batch.Handle) bool) {
	for i := range p.jobs {
		if p.jobs[i].state == incoming && !yield(batch.Handle(i)) {
			return
		}
	}
}

// Reservations yields nothing: DFRS makes none.
func (p *Policy) Reservations(func(batch.Reservation) bool) {}

// AnswerFixed refuses reservations and agreements.
func (p *Policy) AnswerFixed(_ batch.Time, a *batch.Ask, out *batch.Estimate) bool {
	return counted.Refuse(a, out)
}

// Unused returns a handle that names no job.
func (p *Policy) Unused() batch.Handle { return batch.Handle(len(p.jobs)) }

// Worth returns Forecast: a later job can pause any running job.
func (p *Policy) Worth() batch.Kind { return batch.Forecast }

// Underway calls yield with the events that the driver still owes: Stopped for jobs that
// were ordered to leave, and Resumed for jobs that were resumed or migrated.
func (p *Policy) Underway(yield func(batch.Event) bool) {
	for i := range p.jobs {
		h, j := batch.Handle(i), &p.jobs[i]
		lost := j.home != nil && !p.stand(j.home) // and its memory with it
		left := len(j.gone) > 0 || lost && !j.running
		if left && !yield(batch.Event{Kind: batch.Stopped, Job: h, Checkpoint: !lost}) {
			return
		}
		if j.running && j.awaited && !yield(batch.Event{Kind: batch.Resumed, Job: h}) {
			return
		}
	}
}
