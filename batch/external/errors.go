package external

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// ErrClosed is returned by a System that was closed or released.
var ErrClosed = errors.New("batch system closed")

// The reasons of a *batch.CommandError.
const (
	ReasonUnknownJob  = "unknown-job"
	ReasonBadJob      = "bad-job"
	ReasonBadCommand  = "bad-command"
	ReasonUnsupported = "unsupported"
	ReasonNotWaiting  = "not-waiting"
	ReasonClosed      = "closed"
)

func refuse(key batch.Key, reason, format string, args ...any) *batch.CommandError {
	return &batch.CommandError{Key: key, Reason: reason, Err: fmt.Errorf(format, args...)}
}

// UnreachableError says that a cluster did not answer: its controller is down or
// overloaded, or a client program cannot run. If Sent is set, the cluster may have
// done what it was asked. The error says nothing about any job.
type UnreachableError struct {
	Command string // client program: "sbatch"
	Sent    bool   // the request may have reached the controller
	Text    string
}

// Error names the command and what is known.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s: the controller does not answer: %s", e.Command, e.Text)
}

// RefusedError says that a cluster answered and did not do what it was asked.
type RefusedError struct {
	Command string
	Code    int    // exit code of the command
	Text    string // the line of its output that explains most
	Again   bool   // the cause passes, like a limit that is reached: the request can be repeated
	Gone    bool   // the job no longer waits, or is unknown
}

// Error names the command and the cluster's explanation.
func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %s", e.Command, e.Text) }

// AccountingError says that the accounting service does not answer, while the
// controller may.
type AccountingError struct{ Err error }

// Error says why.
func (e *AccountingError) Error() string {
	why := e.Err.Error()
	if silent, ok := errors.AsType[*UnreachableError](e.Err); ok {
		why = silent.Command + ": " + silent.Text
	}
	return "accounting does not answer: " + why
}

// Unwrap returns the cause.
func (e *AccountingError) Unwrap() error { return e.Err }

// UnknownError says that the state of a cluster is not known: it has not answered
// for too long. It says nothing about its jobs.
type UnknownError struct {
	Since time.Time // last answer; zero: there was none
	Why   string
}

// Error says how long ago the last answer was, and what failed since.
func (e *UnknownError) Error() string {
	why := cmp.Or(e.Why, "it was not polled yet")
	if e.Since.IsZero() {
		return "the batch system has not answered yet: " + why
	}
	return fmt.Sprintf("the batch system has not answered since %s: %s", e.Since.UTC().Format(time.RFC3339), why)
}

// CursorError says that Watch cannot continue from a cursor: it belongs to another
// server process, or is so old that ends after it have been forgotten.
type CursorError struct {
	After  batch.Cursor
	Oldest batch.Cursor // accepted, besides 0: Oldest..Newest
	Newest batch.Cursor
}

// Error names the cursor and the accepted range.
func (e *CursorError) Error() string {
	return fmt.Sprintf("cursor: %d, accepted: 0 or %d..%d", e.After, e.Oldest, e.Newest)
}

// unreachable reports whether an error means that the cluster did not answer.
func unreachable(err error) bool {
	_, ok := errors.AsType[*UnreachableError](err)
	return ok
}

// maybeDone reports whether a failed request may have been carried out.
func maybeDone(err error) bool {
	e, ok := errors.AsType[*UnreachableError](err)
	return ok && e.Sent
}

// gone reports whether a refusal means that the job no longer waits or is unknown.
func gone(err error) bool {
	e, ok := errors.AsType[*RefusedError](err)
	return ok && e.Gone
}
