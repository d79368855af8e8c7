package server

import (
	"errors"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// codes maps the reasons of ErrorDetail to Connect codes.
var codes = map[reason]connect.Code{
	badValue:                        connect.CodeInvalidArgument,
	outOfRange:                      connect.CodeInvalidArgument,
	catalogue.ReasonUnknownArgument: connect.CodeInvalidArgument,
	catalogue.ReasonMissingArgument: connect.CodeInvalidArgument,
	catalogue.ReasonWrongType:       connect.CodeInvalidArgument,
	site.ReasonTooWide:              connect.CodeFailedPrecondition,
	site.ReasonTooLong:              connect.CodeFailedPrecondition,
	site.ReasonTooLate:              connect.CodeFailedPrecondition,
	site.ReasonNoMemory:             connect.CodeFailedPrecondition,
	site.ReasonCannotRun:            connect.CodeFailedPrecondition,
	site.ReasonStaleID:              connect.CodeFailedPrecondition,
	site.ReasonJobConflict:          connect.CodeAlreadyExists,
	site.ReasonUnknownService:       connect.CodeNotFound,
	site.ReasonUnknownJob:           connect.CodeNotFound,
	unknownContent:                  connect.CodeNotFound,
	unknownOutput:                   connect.CodeNotFound,
	tooLarge:                        connect.CodeInvalidArgument,
	queueFull:                       connect.CodeResourceExhausted,
	stopping:                        connect.CodeUnavailable,
	timedOut:                        connect.CodeDeadlineExceeded,
	noEstimate:                      connect.CodeInternal,
	internal:                        connect.CodeInternal,
}

// connectError is the one place that turns an error into a Connect code and an
// ErrorDetail. An error of Connect itself (a message that cannot be read, a
// stream that its reader has left) stays what it is.
func (s *Server) connectError(spec connect.Spec, err error) error {
	var already *connect.Error
	if errors.As(err, &already) {
		return already
	}
	p, told := asProblem(err)
	if !told {
		s.log.Error("call failed", "procedure", spec.Procedure, "error", err)
	}
	return withDetail(p)
}

func withDetail(p *problem) *connect.Error {
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

// detailOf returns a problem as it crosses the wire.
func detailOf(p *problem) *droverv1.ErrorDetail {
	return &droverv1.ErrorDetail{
		Reason: string(p.reason), Field: p.field, Accepted: p.accepted, Message: p.message,
		Hint: p.hint, Retryable: p.retryable,
	}
}
