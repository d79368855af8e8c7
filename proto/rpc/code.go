package rpc

import (
	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// codes are the Connect codes of the classes of problems.
var codes = map[problem.Class]connect.Code{
	problem.Invalid:       connect.CodeInvalidArgument,
	problem.NotFound:      connect.CodeNotFound,
	problem.Conflict:      connect.CodeAlreadyExists,
	problem.Precondition:  connect.CodeFailedPrecondition,
	problem.Exhausted:     connect.CodeResourceExhausted,
	problem.Aborted:       connect.CodeAborted,
	problem.Unavailable:   connect.CodeUnavailable,
	problem.TimedOut:      connect.CodeDeadlineExceeded,
	problem.Unimplemented: connect.CodeUnimplemented,
	problem.Defect:        connect.CodeInternal,
}

// Code returns the Connect code of a reason, CodeUnknown for one that this
// program does not know.
func Code(r problem.Reason) connect.Code {
	if code, ok := codes[r.Class()]; ok {
		return code
	}
	return connect.CodeUnknown
}
