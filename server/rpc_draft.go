package server

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// Draft works on a round's copy of the plan.
func (f face) Draft(context.Context, *droverv1.DraftRequest) (*droverv1.DraftResponse, error) {
	return nil, connect.NewError(connect.CodeUnimplemented, errors.New("drafts"))
}
