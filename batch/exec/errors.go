package exec

import (
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The reasons of a *batch.CommandError.
const (
	ReasonUnknownJob  = "unknown-job"    // an order about an attempt never seen, or long forgotten
	ReasonTooWide     = "too-wide"       // more processors than the platform has
	ReasonBadJob      = "bad-job"        // a field of the job is out of its range
	ReasonBadCommand  = "bad-command"    // no such kind of command
	ReasonUnsupported = "unsupported"    // advance reservations, where the policy has none
	ReasonNoRoom      = "no-room"        // the plan cannot hold a window, or an agreed job
	ReasonNoWindow    = "no-reservation" // of a job: the reservation it is for is not there, or over
	ReasonNotWaiting  = "not-waiting"    // it is reserved, has started or ended, and the order is for one that waits
	ReasonClosed      = "closed"         // the system is closed or closing
	ReasonFaulted     = "policy-fault"   // the system has faulted, see System.Err
)

// ErrClosed is returned by a system that was closed.
var ErrClosed = errors.New("batch system closed")

// What is wrong with a decision; causes of a *DecisionError.
var (
	ErrUnsupported = errors.New("not supported by this executor")
	ErrNoCapacity  = errors.New("processors are not free")
	ErrWrongState  = errors.New("does not fit the job's state")
)

// DecisionError is a decision of the policy that could not be carried out. It
// faults the system.
type DecisionError struct {
	Decision batch.DecisionKind
	Handle   batch.Handle
	Key      batch.Key // zero when the handle names no job
	Err      error     // ErrUnsupported, ErrNoCapacity or ErrWrongState
}

// Error names the decision, the job and what is wrong.
func (e *DecisionError) Error() string {
	return fmt.Sprintf("policy decided to %v job %s (handle %d): %v", e.Decision, e.Key.Job, e.Handle, e.Err)
}

// Unwrap returns the cause.
func (e *DecisionError) Unwrap() error { return e.Err }

// CursorError is a cursor that Watch cannot go on from: of another life of the
// system, or so old that ends after it have been forgotten. The watcher asks
// Find about the attempts it knows and watches from the zero cursor again.
type CursorError struct {
	After  batch.Cursor
	Oldest batch.Cursor // accepted, besides 0: Oldest..Newest
	Newest batch.Cursor
}

// Error names the cursor and the accepted range.
func (e *CursorError) Error() string {
	return fmt.Sprintf("cursor: %d, accepted: 0 or %d..%d", e.After, e.Oldest, e.Newest)
}

func refuse(key batch.Key, reason string, format string, args ...any) *batch.CommandError {
	return &batch.CommandError{Key: key, Reason: reason, Err: fmt.Errorf(format, args...)}
}
