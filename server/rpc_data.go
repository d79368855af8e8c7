package server

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

var errNoData = connect.NewError(connect.CodeUnimplemented, errors.New("no data stay at this site"))

// PutData has content that was uploaded stay here under a handle.
func (f face) PutData(context.Context, *droverv1.PutDataRequest) (*droverv1.PutDataResponse, error) {
	return nil, errNoData
}

// GetData returns those of the data named that are here.
func (f face) GetData(context.Context, *droverv1.GetDataRequest) (*droverv1.GetDataResponse, error) {
	return nil, errNoData
}

// CopyData brings data here from the site that has them.
func (f face) CopyData(context.Context, *droverv1.CopyDataRequest, *connect.ServerStream[droverv1.CopyDataResponse]) error {
	return errNoData
}

// DownloadData sends the content of data that are here.
func (f face) DownloadData(context.Context, *droverv1.DownloadDataRequest, *connect.ServerStream[droverv1.DownloadDataResponse]) error {
	return errNoData
}

// ListData lists the data that stay here.
func (f face) ListData(context.Context, *droverv1.ServerServiceListDataRequest) (*droverv1.ServerServiceListDataResponse, error) {
	return nil, errNoData
}

// RemoveData removes data.
func (f face) RemoveData(context.Context, *droverv1.ServerServiceRemoveDataRequest) (*droverv1.ServerServiceRemoveDataResponse, error) {
	return nil, errNoData
}
