package agent

import (
	"context"
	"strings"
	"sync"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// fakeData are the data of a fake server.
type fakeData struct {
	mu   sync.Mutex
	have []*droverv1.Data
	gone map[string]string
	hung <-chan struct{} // when not nil: GetData waits for it, or for the end of the call
	fail error           // of RemoveData
}

func (f *fakeServer) GetData(ctx context.Context, req *droverv1.GetDataRequest) (*droverv1.GetDataResponse, error) {
	if f.data.hung != nil {
		select {
		case <-f.data.hung:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f.data.mu.Lock()
	defer f.data.mu.Unlock()
	out := &droverv1.GetDataResponse{}
	for _, id := range req.GetIds() {
		if strings.Contains(id, "/") {
			return nil, wireError(&problem.Problem{Reason: problem.BadValue, Field: "ids[0]", Message: "no handle"})
		}
		for _, d := range f.data.have {
			if d.GetId() == id {
				out.Data = append(out.Data, d)
			}
		}
		if message := f.data.gone[id]; message != "" {
			out.Gone = append(out.Gone, &droverv1.GoneData{Id: id, Message: message})
		}
	}
	return out, nil
}

// ListData pages through the data; its tokens are the next handles.
func (f *fakeServer) ListData(
	_ context.Context, req *droverv1.ServerServiceListDataRequest,
) (*droverv1.ServerServiceListDataResponse, error) {
	if req.GetFilter() == "mode=eternal" {
		return nil, wireError(&problem.Problem{Reason: problem.BadValue, Field: "filter", Message: "mode"})
	}
	f.data.mu.Lock()
	defer f.data.mu.Unlock()
	out := &droverv1.ServerServiceListDataResponse{}
	for _, d := range f.data.have {
		switch {
		case d.GetId() < req.GetPageToken():
		case len(out.Data) == int(req.GetPageSize()):
			out.NextPageToken = d.GetId()
			return out, nil
		default:
			out.Data = append(out.Data, d)
		}
	}
	return out, nil
}

func (f *fakeServer) RemoveData(
	_ context.Context, req *droverv1.ServerServiceRemoveDataRequest,
) (*droverv1.ServerServiceRemoveDataResponse, error) {
	f.data.mu.Lock()
	defer f.data.mu.Unlock()
	if f.data.fail != nil {
		return nil, f.data.fail
	}
	for i, d := range f.data.have {
		if d.GetId() == req.GetId() {
			f.data.have = append(f.data.have[:i:i], f.data.have[i+1:]...)
			return &droverv1.ServerServiceRemoveDataResponse{Data: d}, nil
		}
	}
	return &droverv1.ServerServiceRemoveDataResponse{}, nil
}
