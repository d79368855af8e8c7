package client

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// Reasons of an Error that this package itself gives. Those of the grid are
// listed with ErrorDetail in proto/drover/v1/error.proto.
const (
	ReasonBadValue    = "bad-value"
	ReasonOutOfRange  = "out-of-range"
	ReasonUnreachable = "unreachable"
	ReasonTimeout     = "timeout"
	ReasonUnknownJob  = "unknown-job"
	ReasonInternal    = "internal"

	// ReasonRecorded: a cancel is recorded at a server that cannot answer it yet,
	// because the job is on its way to another one.
	ReasonRecorded = "recorded"
	// ReasonNotIdempotent: a new attempt was asked for, and the request does not
	// say that executing it twice does no harm.
	ReasonNotIdempotent = "not-idempotent"

	// ReasonNoOffer: nobody can keep the deadline of an agreement.
	ReasonNoOffer = "no-offer"
	// ReasonNoPromise: nobody promises anything, because their policies do not plan.
	ReasonNoPromise = "no-promise"
	// ReasonUnknown: a booking was sent to a site, and no answer came.
	ReasonUnknown = "unknown"

	// ReasonUnknownData: nobody has data of this handle, or has them any more.
	ReasonUnknownData = "unknown-data"
	// ReasonAmbiguous: the beginning of a handle fits several.
	ReasonAmbiguous = "ambiguous"

	reasonUnknownSite     = "unknown-site"
	reasonUnknownService  = "unknown-service"
	reasonMissingArgument = "missing-argument"
	reasonWrongType       = "wrong-type"
	reasonWithdrawn       = "withdrawn"
	reasonUnknownContent  = "unknown-content"
	reasonWrongDimensions = "wrong-dimensions"
	reasonUnknownOutput   = "unknown-output"
)

// Error is what the grid, or the client itself, refuses.
type Error struct {
	Reason    string // a stable word that programs may branch on
	Field     string // what it is about, "request.arguments.n"; may be empty
	Accepted  string // what would have been accepted; may be empty
	Message   string // one sentence for a person
	Hint      string // what a person could do; may be empty
	Retryable bool   // whether the same call may succeed later
	Offer     *Offer // what comes nearest and could be had; nil for nothing

	kind submission.FailureKind
	err  error
}

// Error says what was wrong and what would have been accepted.
func (e *Error) Error() string {
	if e.Accepted == "" || strings.Contains(e.Message, "accepted: ") {
		return e.Message
	}
	text := e.Message + ", accepted: " + e.Accepted
	if e.Field != "" && !strings.HasPrefix(text, e.Field) {
		text = e.Field + ": " + text
	}
	return text
}

// Unwrap returns the failure underneath, if there is one.
func (e *Error) Unwrap() error { return e.err }

// failureOf returns what an error proves. The RPC face gives only *Error, and
// what is none is of this machine: a file that cannot be read. Trying again
// would not help.
func failureOf(err error) submission.Failure {
	if e, ok := errors.AsType[*Error](err); ok && e.kind != 0 {
		return submission.Failure{Kind: e.kind, Err: err}
	}
	return submission.Failure{Kind: submission.Refused, Err: err}
}

// reasonOf returns the reason of an *Error, "" for another error.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

// EndError says that a job has ended, and not well.
type EndError struct {
	Job *Job
}

// Error names the job, its state and the reason.
func (e *EndError) Error() string {
	text := fmt.Sprintf("job %s at site %s: %s", e.Job.ID, e.Job.Site, e.Job.State)
	if e.Job.Outcome.Reason != "" {
		text += " (" + e.Job.Outcome.Reason + ")"
	}
	return text
}
