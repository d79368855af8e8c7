package submission

import (
	"errors"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// FailureKind says what a failed call proves.
type FailureKind uint8

// The kinds of failure.
const (
	// Unsent: nothing left this machine, or nothing that could make a job. Another
	// server may be tried.
	Unsent FailureKind = iota + 1
	// Silent: the call may have been received, and no answer came.
	Silent
	// Busy: the server said that the same call may succeed later.
	Busy
	// Absent: the server said that it does not know the job.
	Absent
	// Refused: the server said no.
	Refused
	// Unfit: the server said no to what precedes a submission, a file. Another
	// server may take it, but not this one later.
	Unfit
)

// Failure is a failed call, and what it proves. It is an error.
type Failure struct {
	Kind FailureKind
	Err  error
}

// Error returns the text of the error.
func (f Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f Failure) Unwrap() error { return f.Err }

// FailureOf returns what an error proves: the Failure in its chain, or else what
// its problem says. Any other error is one of this machine, such as a file that
// cannot be read: trying again does not help.
func FailureOf(err error) Failure {
	if f, ok := errors.AsType[Failure](err); ok {
		return Failure{Kind: f.Kind, Err: err}
	}
	kind := Refused
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		switch {
		case p.Reason == problem.UnknownJob:
			kind = Absent
		case p.Reason == problem.Internal, p.Reason == problem.Timeout:
			kind = Silent // the call failed on the way: before or after it took effect?
		case p.Retryable:
			kind = Busy
		}
	}
	return Failure{Kind: kind, Err: err}
}
