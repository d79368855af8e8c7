package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/server/blobs"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// reason is the stable word of a problem, one of those that ErrorDetail lists.
// The core's own are site's Reason constants.
type reason string

const (
	badValue       reason = site.ReasonBadValue
	outOfRange     reason = site.ReasonOutOfRange
	unknownContent reason = "unknown-content"
	unknownOutput  reason = "unknown-output"
	tooLarge       reason = "too-large"
	queueFull      reason = "queue-full"
	stopping       reason = "stopping"
	timedOut       reason = "timeout"
	noEstimate     reason = "no-estimate"
	internal       reason = "internal"
)

// problem is an error that a client is told about in full.
type problem struct {
	reason    reason
	field     string
	accepted  string
	message   string
	hint      string
	retryable bool
}

// Error says what happened to a person.
func (p *problem) Error() string { return p.message }

// errStopping is the answer of a server that is about to end.
var errStopping = &problem{
	reason: stopping, message: "the server is stopping", retryable: true,
	hint: "ask the agent for another site, or try again when this one is back",
}

// asProblem turns any error into one that can be told. The second result is
// false for one that cannot: it is a defect of this server, and its text, which
// may name files, stays in the log.
func asProblem(err error) (*problem, bool) {
	var (
		p        *problem
		refusal  *site.Refusal
		size     *blobs.SizeError
		mismatch *blobs.MismatchError
	)
	switch {
	case errors.As(err, &p):
		return p, true
	case errors.As(err, &refusal):
		return &problem{
			reason: reason(refusal.Reason), field: refusal.Field, accepted: refusal.Accepted,
			message: refusal.Error(), hint: refusal.Hint,
		}, true
	case errors.As(err, &size):
		return &problem{
			reason: tooLarge, field: "size_bytes", accepted: fmt.Sprintf("at most %d bytes", size.Limit), message: size.Error(),
		}, true
	case errors.As(err, &mismatch):
		return &problem{
			reason: badValue, field: mismatch.Field, accepted: "what the content has", message: mismatch.Error(),
			hint: "the file has changed, or was damaged on its way: send it again",
		}, true
	case errors.Is(err, exec.ErrClosed):
		return errStopping, true
	case errors.Is(err, site.ErrNoPlan):
		return &problem{
			reason: noEstimate, message: err.Error(), hint: "the log of the server says why; drover sites shows the others",
		}, true
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &problem{reason: timedOut, message: "the call ended before it was answered", retryable: true}, true
	}
	return &problem{reason: internal, message: "the server failed; its log says more"}, false
}
