package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// State is the state of a job.
type State uint8

// The states of a job.
const (
	// Absent: the site does not have the job but must remember something about it: that it was
	// withdrawn, or which of its moves were aborted.
	Absent     State = iota
	Waiting          // in the queue
	Starting         // being launched
	Running          // running
	Done             // exit code 0; final
	Failed           // failed or could not be launched; final
	Killed           // killed at its walltime; final
	Cancelling       // a cancel is being carried out
	Cancelled        // final
	Held             // not in the plan: held for a round of reallocation or for dependencies
	Moving           // being moved; can still start here
	Yielding         // being handed over
	Gone             // at another site; final here
	Incoming         // coming from another site
)

var stateNames = [...]string{
	Absent: "absent", Waiting: "waiting", Starting: "starting", Running: "running", Done: "done", Failed: "failed",
	Killed:     "killed",
	Cancelling: "cancelling", Cancelled: "cancelled", Held: "held", Moving: "moving", Yielding: "yielding",
	Gone: "gone", Incoming: "incoming",
}

// String returns the state's name in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) && stateNames[s] != "" {
		return stateNames[s]
	}
	return "unspecified"
}

// Final reports whether a job in this state never changes again at this site.
func (s State) Final() bool {
	return s == Done || s == Failed || s == Killed || s == Cancelled || s == Gone
}

// Over reports whether a job in this state has ended, not only left the site.
func (s State) Over() bool { return s.Final() && s != Gone }

// Event is something that happens to an accepted job.
type Event uint8

// The events.
const (
	OnStarting  Event = iota + 1 // the batch system launches it
	OnRunning                    // it runs
	OnDone                       // it ended with exit code 0
	OnFailed                     // it failed or could not be launched
	OnKilled                     // it was killed at its walltime
	OnCancelled                  // the batch system ended it on command
	OnNeverRan                   // the attempt provably did not run, and never will
	OnLost                       // it ran, but its end was not observed
	OnCancel                     // a cancel was requested
	OnStopped                    // it stopped at a checkpoint to free its processors
)

var eventNames = [...]string{
	OnStarting: "starting", OnRunning: "running", OnDone: "done", OnFailed: "failed", OnKilled: "killed",
	OnCancelled: "cancelled",
	OnNeverRan:  "never-ran", OnLost: "lost", OnCancel: "cancel", OnStopped: "stopped",
}

// String returns the event's name in lower case.
func (e Event) String() string {
	if int(e) < len(eventNames) && eventNames[e] != "" {
		return eventNames[e]
	}
	return "unspecified"
}

// TransitionError means that an event is not valid in a job's state.
type TransitionError struct {
	Job   batch.JobID
	State State
	Event Event
}

// Error names the job, its state and the event.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("job %s is %v: it cannot take %v", e.Job, e.State, e.Event)
}

// noState is the result of next for an event that is not valid in a state.
const noState State = 0xff

// next is the life of a job as a table: the state after an event, or noState. A batch system that
// is polled skips states, so the next event of a waiting job can be its end. An event that is
// repeated changes nothing, because a stream of changes may be read twice.
//
// A waiting, held or moving job starts like any other. Nothing may start from YIELDING on, or while
// a cancel is carried out. After an attempt that provably did not run, or that stopped at a
// checkpoint, another one follows.
func next(s State, e Event) State {
	switch s {
	case Waiting, Starting, Running, Held, Moving:
		switch e {
		case OnStarting:
			if s == Running {
				return noState
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
		// The claim decides whether the job has started, unless the batch system reports it first.
		// A job that could not be launched is still handed over.
		switch e {
		case OnCancel, OnNeverRan, OnCancelled:
			return Yielding
		case OnStarting:
			return noState
		case OnRunning:
			return Running
		default:
			return ended(e)
		}
	case Cancelling:
		// The cancel races with the job's own end. The batch system reports which came first.
		switch e {
		case OnStarting, OnRunning, OnCancel:
			return Cancelling
		case OnNeverRan, OnStopped:
			return Cancelled
		default:
			return ended(e)
		}
	case Incoming, Gone:
		if e == OnCancel { // recorded; the other site answers it
			return s
		}
	case Done, Failed, Killed, Cancelled:
		if e == OnCancel || ended(e) == s {
			return s
		}
	}
	return noState
}

// ended returns the final state for an event that ends a job, noState for other events.
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
	return noState
}

// eventOf returns the event for an outcome.
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
