package server

import (
	"errors"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

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
	return rpc.WithDetail(p, p)
}
