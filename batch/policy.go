package batch

import (
	"errors"
	"fmt"
)

// Policy is how an embedded batch system decides. It is a core: single-threaded,
// without I/O, and a function of the calls made to it. Instants never go back
// from call to call.
//
// A driver may trust a policy with every event in this order and nothing else:
// for each instant Apply for all its events (ends, then the rest, submissions
// last, each in submission order), then one Decide. Estimate and Fork may come
// at any time after a Decide and change nothing that a later decision could see.
type Policy interface {
	// Apply takes one event. Events have been checked at the edge: an event that
	// does not fit the job's state is a bug of the driver and panics.
	Apply(now Time, ev *Event)
	// Decide is one scheduling pass; it appends to out, which the caller has
	// reset.
	Decide(now Time, out *Decisions)
	// Wake returns the next instant at which a pass is wanted even if nothing
	// happens until then; Never if there is none.
	Wake() Time
	// Estimate answers when each shape of each ask would start if it were
	// submitted now, alone, behind all waiting jobs. out has one element for each
	// ask. If the job has a Window, the start of a shape is Window.Start if the
	// window can be reserved, else Never: a driver asks before it reserves. For an
	// Agreed job it is the start of its slot, Never if the slot would end after the
	// Deadline; without a Deadline, the earliest start that the policy can agree to.
	//
	// A policy that has filled out returns nil. A policy that does not plan returns
	// itself, and a forecaster (package batch/plan/forecast) answers by running a
	// copy of it forward.
	Estimate(now Time, asks []Ask, out []Estimate) Runnable
	// Fork returns an independent copy of the same type, for forecasting and what-if.
	Fork() Policy
}

// Runnable is a policy that a forecaster can run forward, as if every job used up its
// walltime. counted.Backlog implements all of it but batch.Policy, for policies that
// count processors and keep no plan.
type Runnable interface {
	Policy
	// Ends calls yield with each running job and its planned end.
	Ends(yield func(Handle, Time) bool)
	// PlannedEnd returns the planned end of a running job. It may change with
	// every pass where jobs share processors.
	PlannedEnd(Handle) Time
	// Incoming calls yield with each job that is reserved and not confirmed.
	Incoming(yield func(Handle) bool)
	// Reservations calls yield with each advance reservation, in the order in which
	// they were made.
	Reservations(yield func(Reservation) bool)
	// Underway calls yield with each event that the driver still owes: Stopped for a
	// job that was told to leave its processors, Resumed for one that was told to
	// continue. A policy that never pauses or migrates jobs owes none.
	Underway(yield func(Event) bool)
	// AnswerFixed answers an ask about a reservation, a job in a reservation, or an
	// agreed job: these have slots that other jobs keep clear of. It returns false for
	// other asks, which the forecaster answers.
	AnswerFixed(now Time, a *Ask, out *Estimate) bool
	// Unused returns a handle that names none of the policy's jobs.
	Unused() Handle
	// Worth returns the kind of a forecast for a job that may start at once: Forecast,
	// unless the policy can promise that jobs that come later delay nothing.
	Worth() Kind
}

// Reservation is an advance reservation in a policy's plan.
type Reservation struct {
	Job        Handle
	Start, End Time
	Charge     int32 // processors
	Open       bool
}

// Factory makes a policy for a platform. Settings are the policy's own
// key=value pairs; a factory refuses keys it does not know.
type Factory func(p Platform, s Settings) (Policy, error)

// Ask is one question to a planner: when would each shape of a job start if the job
// were submitted now?
//
// An ask with the Job.Handle of a waiting job is about that job in its position in the
// queue, with its own shape, the only one in Shapes. The answer for a held job is Never.
type Ask struct {
	Job    *Job    // its needs; Job.Shape is ignored
	Shapes []Shape // ascending width
	From   Time    // not before (input still travelling); 0 for now
	// Best says that only the shape which ends first is wanted, of several the
	// narrowest. Its start is exact; those of the others may be later, or Never.
	Best bool
}

// Validate returns what is wrong with an Ask, and nil if a policy can answer it.
func (a *Ask) Validate() error {
	if a.Job == nil {
		return errors.New("job: missing")
	}
	if len(a.Shapes) == 0 {
		return errors.New("shapes: none, accepted: at least 1")
	}
	for i, sh := range a.Shapes {
		if sh.Width < 1 || sh.Walltime < 1 {
			return fmt.Errorf("shapes[%d]: %v, accepted: width at least 1, walltime more than 0s", i, sh)
		}
		if i > 0 && sh.Width < a.Shapes[i-1].Width {
			return fmt.Errorf("shapes[%d]: width %d after %d, accepted: ascending widths", i, sh.Width,
				a.Shapes[i-1].Width)
		}
	}
	return nil
}

// Kind says what an estimate is worth.
type Kind uint8

// The kinds of estimate, best first.
const (
	Promised Kind = iota + 1 // never later (FCFS plan, CBF)
	Planned                  // by a plan that may change (dynP)
	Probable                 // kept with probability Estimate.P (overbooking)
	Forecast                 // what a model of the batch system says
)

// String returns the kind in upper case.
func (k Kind) String() string {
	switch k {
	case Promised:
		return "PROMISED"
	case Planned:
		return "PLANNED"
	case Probable:
		return "PROBABLE"
	case Forecast:
		return "FORECAST"
	}
	return "UNSPECIFIED"
}

// Estimate answers an Ask.
type Estimate struct {
	Kind Kind
	P    float64 // of Probable: the probability that it is kept
	// Starts[i] is the start of Shapes[i]; Never if it cannot run here. The
	// callee writes into the caller's slice when it is long enough.
	Starts []Time
	// Ends[i] is the completion of Shapes[i] where a start does not tell it,
	// because jobs share processors; empty where it is start plus walltime.
	Ends []Time
}

// End returns the completion of shape i with walltime d; Never if it cannot
// run.
func (e *Estimate) End(i int, d Duration) Time {
	if len(e.Ends) > 0 {
		return e.Ends[i]
	}
	return e.Starts[i].Add(d)
}

// Grow returns e.Starts with length n and empties e.Ends, reusing their memory.
func (e *Estimate) Grow(n int) []Time {
	e.Ends = e.Ends[:0]
	if cap(e.Starts) < n {
		e.Starts = make([]Time, n)
	}
	e.Starts = e.Starts[:n]
	return e.Starts
}
