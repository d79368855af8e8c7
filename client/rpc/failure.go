package rpc

import (
	"errors"
	"fmt"
	"net"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// failed translates the error of a call: to the *problem.Problem that the other
// side sent, or to a submission.Failure around one.
func (c *call) failed(err error) error {
	if err == nil {
		return nil
	}
	var ce *connect.Error
	if errors.As(err, &ce) {
		for _, d := range ce.Details() {
			if v, err := d.Value(); err == nil {
				if detail, ok := v.(*droverv1.ErrorDetail); ok {
					p := rpc.ProblemOf(detail)
					p.Cause = ce
					return p
				}
			}
		}
	}
	if !c.sent.Load() {
		return c.unreachable(submission.Unsent, err)
	}
	switch code := connect.CodeOf(err); code {
	case connect.CodeUnavailable, connect.CodeDeadlineExceeded, connect.CodeCanceled, connect.CodeInternal,
		connect.CodeUnknown, connect.CodeAborted, connect.CodeDataLoss:
		return c.unreachable(submission.Silent, err)
	case connect.CodeUnimplemented, connect.CodeNotFound:
		return &problem.Problem{
			Reason: problem.Unreachable, Message: fmt.Sprintf("%s is not a Drover %s (%v)", c.url, c.role, code),
			Hint: "check the URL", Cause: err,
		}
	default:
		return &problem.Problem{
			Reason: problem.BadValue, Message: fmt.Sprintf("%s %s refused the call: %v", c.role, c.url, err),
			Cause: err,
		}
	}
}

// unreachable returns the failure of a call without an answer.
func (c *call) unreachable(kind submission.FailureKind, err error) error {
	p := &problem.Problem{
		Reason: problem.Unreachable, Retryable: true, Cause: err, Hint: "is it running, and is this its URL?",
	}
	cause := err.Error()
	if op, ok := errors.AsType[*net.OpError](err); ok {
		cause = op.Err.Error()
	}
	switch {
	case connect.CodeOf(err) == connect.CodeDeadlineExceeded && kind == submission.Silent:
		p.Reason, p.Hint = problem.Timeout, "it is reachable, but slow or stuck; try again"
		p.Message = fmt.Sprintf("no answer from %s %s in time", c.role, c.url)
	case kind == submission.Silent:
		p.Message = fmt.Sprintf("the connection to %s %s broke: %s", c.role, c.url, cause)
	default:
		p.Message = fmt.Sprintf("no connection to %s %s: %s", c.role, c.url, cause)
	}
	return submission.Failure{Kind: kind, Err: p}
}

// Local returns the failure of this side of a call, such as a file that cannot
// be written: trying again does not help.
func Local(err error) error {
	return submission.Failure{
		Kind: submission.Refused, Err: &problem.Problem{Reason: problem.Internal, Message: err.Error(), Cause: err},
	}
}
