package agent

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

var errNoData = connect.NewError(connect.CodeUnimplemented, errors.New("no data stay in this grid"))

// FindData asks the servers which of them have data.
func (f face) FindData(context.Context, *droverv1.FindDataRequest) (*droverv1.FindDataResponse, error) {
	return nil, errNoData
}

// ListData lists the data of all sites.
func (f face) ListData(context.Context, *droverv1.AgentServiceListDataRequest) (*droverv1.AgentServiceListDataResponse, error) {
	return nil, errNoData
}

// RemoveData has data removed at all sites that have them.
func (f face) RemoveData(context.Context, *droverv1.AgentServiceRemoveDataRequest) (*droverv1.AgentServiceRemoveDataResponse, error) {
	return nil, errNoData
}
