package client

import (
	"errors"
	"fmt"
	"net"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// failed is the one place that turns the error of a call into an *Error and says
// what it proves.
func (c *call) failed(err error) error {
	if err == nil {
		return nil
	}
	var ce *connect.Error
	if errors.As(err, &ce) {
		for _, d := range ce.Details() {
			if v, err := d.Value(); err == nil {
				if detail, ok := v.(*droverv1.ErrorDetail); ok {
					e := errorOf(detail)
					e.kind, e.err = kindOf(e), ce
					return e
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
		return &Error{
			Reason: ReasonUnreachable, Message: fmt.Sprintf("%s is no Drover %s (%v)", c.url, c.who, code),
			Hint: "check the URL", kind: submission.Refused, err: err,
		}
	default:
		return &Error{
			Reason: ReasonBadValue, Message: fmt.Sprintf("%s %s refused the call: %v", c.who, c.url, err),
			kind: submission.Refused, err: err,
		}
	}
}

// kindOf says what an answer with a detail proves.
func kindOf(e *Error) submission.FailureKind {
	switch {
	case e.Reason == ReasonUnknownJob:
		return submission.Absent
	case e.Reason == ReasonInternal, e.Reason == ReasonTimeout:
		return submission.Silent // it failed or ended on the way: before or after it took effect?
	case e.Retryable:
		return submission.Busy
	}
	return submission.Refused
}

func (c *call) unreachable(kind submission.FailureKind, err error) *Error {
	e := &Error{Reason: ReasonUnreachable, Retryable: true, kind: kind, err: err, Hint: "is it running, and is this its URL?"}
	cause := err.Error()
	if op, ok := errors.AsType[*net.OpError](err); ok {
		cause = op.Err.Error()
	}
	switch {
	case connect.CodeOf(err) == connect.CodeDeadlineExceeded && kind == submission.Silent:
		e.Reason, e.Hint = ReasonTimeout, "it is reachable, but slow or stuck; try again"
		e.Message = fmt.Sprintf("no answer from %s %s in time", c.who, c.url)
	case kind == submission.Silent:
		e.Message = fmt.Sprintf("the connection to %s %s broke: %s", c.who, c.url, cause)
	default:
		e.Message = fmt.Sprintf("no connection to %s %s: %s", c.who, c.url, cause)
	}
	return e
}

// local marks a failure of this side, such as a file that cannot be written:
// trying again would not help.
func local(err error) error {
	return &Error{Reason: ReasonInternal, Message: err.Error(), kind: submission.Refused, err: err}
}

// beforeSubmission says of a failed upload that nothing was submitted yet: the
// request may go to another site. A file that cannot be read goes nowhere.
func beforeSubmission(err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.kind != 0 {
		before := *e
		if before.kind = submission.Unsent; e.kind == submission.Refused {
			before.kind = submission.Unfit
		}
		return &before
	}
	return err
}

// errorOf translates an ErrorDetail, nil to nil.
func errorOf(d *droverv1.ErrorDetail) *Error {
	if d == nil {
		return nil
	}
	return &Error{
		Reason: d.GetReason(), Field: d.GetField(), Accepted: d.GetAccepted(), Message: d.GetMessage(),
		Hint: d.GetHint(), Retryable: d.GetRetryable(), Offer: offerIn(d.GetOffer()),
	}
}
