package agent

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// Reallocate runs a round of reallocation.
func (f face) Reallocate(context.Context, *droverv1.ReallocateRequest) (*droverv1.ReallocateResponse, error) {
	return nil, connect.NewError(connect.CodeUnimplemented, errors.New("rounds of reallocation"))
}
