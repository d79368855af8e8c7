package rpc

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// ReadLogs sends what a job wrote.
func (h handler) ReadLogs(
	ctx context.Context, req *droverv1.ReadLogsRequest, stream *connect.ServerStream[droverv1.ReadLogsResponse],
) error {
	want := files.Logs{Job: req.GetJobId(), Offset: req.GetOffset(), Follow: req.GetFollow()}
	switch req.GetStream() {
	case droverv1.LogStream_LOG_STREAM_UNSPECIFIED, droverv1.LogStream_LOG_STREAM_STDOUT:
		want.Stream = files.Stdout
	case droverv1.LogStream_LOG_STREAM_STDERR:
		want.Stream = files.Stderr
	default:
		return &problem.Problem{
			Reason: problem.BadValue, Field: "stream", Accepted: "stdout, stderr",
			Message: fmt.Sprintf("stream: %d", req.GetStream()),
		}
	}
	return h.s.ReadLogs(ctx, want, func(p files.Piece) error {
		return stream.Send(&droverv1.ReadLogsResponse{Data: p.Data, Offset: p.Offset})
	})
}

// StatContent returns how much of a file's content is here.
func (h handler) StatContent(
	_ context.Context, req *droverv1.StatContentRequest,
) (*droverv1.StatContentResponse, error) {
	p, err := h.s.ContentProgress(req.GetSha256(), req.GetSizeBytes())
	if err != nil {
		return nil, err
	}
	return &droverv1.StatContentResponse{
		Complete: p.Complete, HaveBytes: p.Have, SizeBytes: p.Size,
		Arriving: p.Arriving,
	}, nil
}

// The modes of data on the wire. The default is persistent.
var (
	modesOut = map[depot.Mode]droverv1.DataMode{
		depot.Volatile:   droverv1.DataMode_DATA_MODE_VOLATILE,
		depot.Sticky:     droverv1.DataMode_DATA_MODE_STICKY,
		depot.Persistent: droverv1.DataMode_DATA_MODE_PERSISTENT,
	}
	modesIn = inverse(modesOut)
)

// modeIn returns a mode, "" for an unknown one.
func modeIn(m droverv1.DataMode) depot.Mode {
	if m == droverv1.DataMode_DATA_MODE_UNSPECIFIED {
		return depot.Persistent
	}
	return modesIn[m]
}

// dataIn converts data to put here.
func dataIn(d *droverv1.Data) depot.Data {
	out := depot.Data{
		ID: d.GetId(), SHA256: d.GetContent().GetSha256(), Size: d.GetContent().GetSizeBytes(),
		Name:       d.GetContent().GetName(),
		Dimensions: d.GetDimensions(), Mode: modeIn(d.GetMode()), Owner: d.GetOwner(),
	}
	if d.GetElement() != droverv1.ElementType_ELEMENT_TYPE_UNSPECIFIED {
		out.Element = elementsIn[d.GetElement()].String()
	}
	return out
}

// dataOut returns data of a site for the wire.
func dataOut(d *depot.Data, site string) *droverv1.Data {
	element, _ := catalogue.ElementNamed(d.Element)
	return &droverv1.Data{
		Id: d.ID, Content: &droverv1.File{Sha256: d.SHA256, SizeBytes: d.Size, Name: d.Name},
		Element: elementsOut[element], Dimensions: d.Dimensions, Mode: modesOut[d.Mode], Owner: d.Owner, Site: site,
		Copy:   d.Copy,
		PutAt:  timestamppb.New(d.Put.Truncate(time.Microsecond)),
		UsedAt: timestamppb.New(d.Used.Truncate(time.Microsecond)), JobId: d.Job,
	}
}

func (h handler) dataOut(d *depot.Data) *droverv1.Data { return dataOut(d, h.s.About().Name) }

// keepIn converts the outputs and inputs that a request keeps.
func keepIn(all map[string]*droverv1.Keep) (map[string]site.Keep, error) {
	if len(all) == 0 {
		return nil, nil
	}
	out := make(map[string]site.Keep, len(all))
	for name, k := range all {
		mode := modeIn(k.GetMode())
		if mode == "" {
			return nil, &problem.Problem{
				Reason: problem.BadValue, Field: "request.keep." + name + ".mode",
				Accepted: "volatile, sticky, persistent", Message: fmt.Sprintf("mode: %d", k.GetMode()),
			}
		}
		out[name] = site.Keep{ID: k.GetDataId(), Mode: string(mode)}
	}
	return out, nil
}

// keepOut is the inverse of keepIn.
func keepOut(all map[string]site.Keep) map[string]*droverv1.Keep {
	if len(all) == 0 {
		return nil
	}
	out := make(map[string]*droverv1.Keep, len(all))
	for name, k := range all {
		out[name] = &droverv1.Keep{DataId: k.ID, Mode: modesOut[depot.Mode(k.Mode)]}
	}
	return out
}

// PutData stores uploaded content under a handle.
func (h handler) PutData(_ context.Context, req *droverv1.PutDataRequest) (*droverv1.PutDataResponse, error) {
	d, err := h.s.PutData(dataIn(req.GetData()))
	if err != nil {
		return nil, err
	}
	return &droverv1.PutDataResponse{Data: h.dataOut(&d)}, nil
}

// GetData returns the named data that are here.
func (h handler) GetData(_ context.Context, req *droverv1.GetDataRequest) (*droverv1.GetDataResponse, error) {
	here, gone, err := h.s.GetData(req.GetIds())
	if err != nil {
		return nil, err
	}
	out := &droverv1.GetDataResponse{}
	for i := range here {
		out.Data = append(out.Data, h.dataOut(&here[i]))
	}
	for _, g := range gone {
		out.Gone = append(out.Gone, &droverv1.GoneData{Id: g.ID, Message: h.s.DescribeGone(g)})
	}
	return out, nil
}

// CopyData copies data here from the site that has them.
func (h handler) CopyData(
	ctx context.Context, req *droverv1.CopyDataRequest, stream *connect.ServerStream[droverv1.CopyDataResponse],
) error {
	d, err := h.s.CopyData(ctx, req.GetId(), req.GetFrom(), func(have, size int64) error {
		return stream.Send(&droverv1.CopyDataResponse{HaveBytes: have, SizeBytes: size})
	})
	if err != nil {
		return err
	}
	return stream.Send(&droverv1.CopyDataResponse{HaveBytes: d.Size, SizeBytes: d.Size, Data: h.dataOut(&d)})
}

// ListData lists the data here.
func (h handler) ListData(
	_ context.Context, req *droverv1.ServerServiceListDataRequest,
) (*droverv1.ServerServiceListDataResponse, error) {
	size, err := rpc.PageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	var after dataPosition
	if err := rpc.ParseToken(req.GetPageToken(), &after); err != nil {
		return nil, err
	}
	page, more, err := h.s.ListData(req.GetFilter(), after.ID, size)
	if err != nil {
		return nil, err
	}
	out := &droverv1.ServerServiceListDataResponse{}
	for i := range page {
		out.Data = append(out.Data, h.dataOut(&page[i]))
	}
	if more {
		out.NextPageToken = rpc.Token(dataPosition{ID: page[len(page)-1].ID})
	}
	return out, nil
}

// dataPosition is the last handle of a page.
type dataPosition struct {
	ID string `json:"id"`
}

// RemoveData removes data.
func (h handler) RemoveData(
	_ context.Context, req *droverv1.ServerServiceRemoveDataRequest,
) (*droverv1.ServerServiceRemoveDataResponse, error) {
	was, err := h.s.RemoveData(req.GetId())
	if err != nil || was == nil {
		return &droverv1.ServerServiceRemoveDataResponse{}, err
	}
	return &droverv1.ServerServiceRemoveDataResponse{Data: h.dataOut(was)}, nil
}

// dataUsageOut returns the usage of the data quota for the wire.
func dataUsageOut(u depot.Usage) *droverv1.DataUsage {
	return &droverv1.DataUsage{
		Handles: int32(u.Handles), UsedBytes: u.Used, QuotaBytes: u.Quota, OwnerQuotaBytes: u.OwnerQuota,
		Evicted: u.Evicted,
	}
}
