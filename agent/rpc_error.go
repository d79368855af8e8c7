package agent

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// codes maps the reasons of ErrorDetail to Connect codes: those of the agent
// itself and those of servers that it passes on.
var codes = map[reason]connect.Code{
	badValue:           connect.CodeInvalidArgument,
	outOfRange:         connect.CodeInvalidArgument,
	"unknown-argument": connect.CodeInvalidArgument,
	"missing-argument": connect.CodeInvalidArgument,
	"wrong-type":       connect.CodeInvalidArgument,
	"too-wide":         connect.CodeFailedPrecondition,
	"too-long":         connect.CodeFailedPrecondition,
	"too-late":         connect.CodeFailedPrecondition,
	"no-memory":        connect.CodeFailedPrecondition,
	"cannot-run":       connect.CodeFailedPrecondition,
	"stale-id":         connect.CodeFailedPrecondition,
	"job-conflict":     connect.CodeAlreadyExists,
	"queue-full":       connect.CodeResourceExhausted,
	unknownService:     connect.CodeNotFound,
	unknownJob:         connect.CodeNotFound,
	"unknown-content":  connect.CodeNotFound,
	"unknown-output":   connect.CodeNotFound,
	noSite:             connect.CodeUnavailable,
	noCandidate:        connect.CodeUnavailable,
	unreachable:        connect.CodeUnavailable,
	"stopping":         connect.CodeUnavailable,
	timedOut:           connect.CodeDeadlineExceeded,
	"no-estimate":      connect.CodeInternal,
	internal:           connect.CodeInternal,
}

// connectError is the one place that turns an error into a Connect code and an
// ErrorDetail. An error of Connect itself (a message that cannot be read) stays
// what it is.
func connectError(err error) error {
	var already *connect.Error
	if errors.As(err, &already) {
		return err
	}
	p := asProblem(err)
	code, ok := codes[p.reason]
	if !ok {
		code = connect.CodeUnknown
	}
	e := connect.NewError(code, p)
	if d, err := connect.NewErrorDetail(detailOf(p)); err == nil {
		e.AddDetail(d)
	}
	return e
}

// failed returns the result of a call to a server that returned an error: a
// refusal when the server itself says why, otherwise silence of some kind. ctx
// is that of the call: a connection that breaks may look like a cancelled call
// too.
func failed[T any](ctx context.Context, err error) result[T] {
	var ce *connect.Error
	if errors.As(err, &ce) {
		for _, d := range ce.Details() {
			v, err := d.Value()
			detail, ok := v.(*droverv1.ErrorDetail)
			switch {
			case err != nil || !ok:
			case detail.GetRetryable(): // it would not say so of the request
				return result[T]{missing: mapping.Unreachable, problem: problemOf(detail)}
			default:
				return result[T]{missing: mapping.Refused, problem: problemOf(detail)}
			}
		}
	}
	code := connect.CodeOf(err)
	switch {
	case ctx.Err() != nil, code == connect.CodeDeadlineExceeded:
		return late[T]()
	case code == connect.CodeUnavailable, code == connect.CodeCanceled:
		return result[T]{missing: mapping.Unreachable, problem: &problem{
			reason: unreachable, message: "no connection to the server", retryable: true,
		}}
	default:
		return result[T]{missing: mapping.Unreachable, problem: &problem{
			reason: unreachable, message: "the call failed: " + code.String(), retryable: true,
		}}
	}
}
