package agent

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

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
				return result[T]{missing: mapping.Unreachable, problem: rpc.ProblemOf(detail)}
			default:
				return result[T]{missing: mapping.Refused, problem: rpc.ProblemOf(detail)}
			}
		}
	}
	code := connect.CodeOf(err)
	switch {
	case ctx.Err() != nil, code == connect.CodeDeadlineExceeded:
		return late[T]()
	case code == connect.CodeUnavailable, code == connect.CodeCanceled:
		return result[T]{missing: mapping.Unreachable, problem: &problem.Problem{
			Reason: problem.Unreachable, Message: "no connection to the server", Retryable: true,
		}}
	default:
		return result[T]{missing: mapping.Unreachable, problem: &problem.Problem{
			Reason: problem.Unreachable, Message: "the call failed: " + code.String(), Retryable: true,
		}}
	}
}
