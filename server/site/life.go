package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// State is where a job is in its life.
type State uint8

// The states of a job.
const (
	// Absent: the site has no such job, but something to remember of it: that it
	// was withdrawn, or which moves of it have come to nothing.
	Absent     State = iota
	Waiting          // in the queue
	Starting         // being launched
	Running          // running
	Done             // ended with exit code 0; final
	Failed           // ended otherwise, or could not be launched; final
	Killed           // killed at its walltime; final
	Cancelling       // a cancel is on its way
	Cancelled        // ended by a cancel; final
	Held             // out of the plan: for a round of reallocation, or until others have ended
	Moving           // being moved; may still start here
	Yielding         // being handed over
	Gone             // at another site; final here
	Incoming         // coming from another site
)

var stateNames = [...]string{
	Absent: "absent", Waiting: "waiting", Starting: "starting", Running: "running", Done: "done", Failed: "failed", Killed: "killed",
	Cancelling: "cancelling", Cancelled: "cancelled", Held: "held", Moving: "moving", Yielding: "yielding", Gone: "gone", Incoming: "incoming",
}

// String returns the state's name in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) && stateNames[s] != "" {
		return stateNames[s]
	}
	return "unspecified"
}

// Final says whether a job in this state will never change again at this site.
func (s State) Final() bool {
	return s == Done || s == Failed || s == Killed || s == Cancelled || s == Gone
}

// Over says whether a job in this state has ended, and not just gone elsewhere.
func (s State) Over() bool { return s.Final() && s != Gone }

// Event is something that happens to a job after it was accepted.
type Event uint8

// The events of a job's life.
const (
	OnStarting  Event = iota + 1 // the batch system launches it
	OnRunning                    // it runs
	OnDone                       // it ended with exit code 0
	OnFailed                     // it ended otherwise, or could not be launched
	OnKilled                     // it was killed at its walltime
	OnCancelled                  // the batch system ended it on order
	OnNeverRan                   // the attempt has provably not run, and never will
	OnLost                       // it ran, and nobody saw its end
	OnCancel                     // somebody wants it cancelled
	OnStopped                    // it has made place at a checkpoint
)

var eventNames = [...]string{
	OnStarting: "starting", OnRunning: "running", OnDone: "done", OnFailed: "failed", OnKilled: "killed", OnCancelled: "cancelled",
	OnNeverRan: "never-ran", OnLost: "lost", OnCancel: "cancel", OnStopped: "stopped",
}

// String returns the event's name in lower case.
func (e Event) String() string {
	if int(e) < len(eventNames) && eventNames[e] != "" {
		return eventNames[e]
	}
	return "unspecified"
}

// TransitionError says that an event does not fit a job's state.
type TransitionError struct {
	Job   batch.JobID
	State State
	Event Event
}

// Error names the job, its state and the event.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("job %s is %v: it cannot take %v", e.Job, e.State, e.Event)
}

// misfit is next's answer for an event that does not fit a state.
const misfit State = 0xff

// next is the life of a job as a table: the state after an event, or misfit. A
// batch system that is polled skips states, so a waiting job may be heard of next
// when it has ended. The same event again changes nothing, because a stream of
// changes may be read twice.
//
// A job that waits, is held or is being moved starts like any other one: only
// from YIELDING on, and when a cancel is being carried out, nothing may start. An
// attempt that has provably not run leads to another one, and so does one that has
// stopped at a checkpoint.
func next(s State, e Event) State {
	switch s {
	case Waiting, Starting, Running, Held, Moving:
		switch e {
		case OnStarting:
			if s == Running {
				return misfit
			}
			return Starting
		case OnRunning:
			return Running
		case OnCancel:
			return Cancelling
		case OnNeverRan, OnStopped:
			return Waiting
		default:
			return ended(e)
		}
	case Yielding:
		// Whether it has started is told by the claim, unless the batch system says
		// so before. What could not be launched is still to be handed over.
		switch e {
		case OnCancel, OnNeverRan, OnCancelled:
			return Yielding
		case OnStarting:
			return misfit
		case OnRunning:
			return Running
		default:
			return ended(e)
		}
	case Cancelling:
		// The cancel and the job's own end race. The batch system says who won.
		switch e {
		case OnStarting, OnRunning, OnCancel:
			return Cancelling
		case OnNeverRan, OnStopped:
			return Cancelled
		default:
			return ended(e)
		}
	case Incoming, Gone:
		if e == OnCancel { // recorded; for the other site to answer
			return s
		}
	case Done, Failed, Killed, Cancelled:
		if e == OnCancel || ended(e) == s {
			return s
		}
	}
	return misfit
}

// ended returns the final state of an end, or misfit.
func ended(e Event) State {
	switch e {
	case OnDone:
		return Done
	case OnFailed, OnLost:
		return Failed
	case OnKilled:
		return Killed
	case OnCancelled:
		return Cancelled
	}
	return misfit
}

// eventOf returns the event of an outcome.
func eventOf(o batch.Outcome) Event {
	switch o.End {
	case batch.EndDone:
		return OnDone
	case batch.EndKilled:
		return OnKilled
	case batch.EndCancelled:
		return OnCancelled
	case batch.EndNeverRan:
		return OnNeverRan
	case batch.EndStopped:
		return OnStopped
	case batch.EndLost:
		return OnLost
	default:
		return OnFailed
	}
}
