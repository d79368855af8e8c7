package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func modeOut(m DataMode) droverv1.DataMode {
	switch m {
	case DataVolatile:
		return droverv1.DataMode_DATA_MODE_VOLATILE
	case DataSticky:
		return droverv1.DataMode_DATA_MODE_STICKY
	}
	return droverv1.DataMode_DATA_MODE_PERSISTENT
}

// modeIn returns a mode; one that was not said is persistent.
func modeIn(m droverv1.DataMode) DataMode {
	if m == droverv1.DataMode_DATA_MODE_UNSPECIFIED {
		return DataPersistent
	}
	return DataMode(word(m.String(), "DATA_MODE_"))
}

func dataOut(d *Data) *droverv1.Data {
	return &droverv1.Data{
		Id: d.ID, Content: &droverv1.File{Sha256: d.SHA256, SizeBytes: d.Size, Name: d.Name}, Mode: modeOut(d.Mode), Owner: d.Owner,
		Element: elementOut(d.Element), Dimensions: d.Dimensions,
	}
}

func dataIn(d *droverv1.Data) *Data {
	return &Data{
		ID: d.GetId(), Name: d.GetContent().GetName(), Size: d.GetContent().GetSizeBytes(), SHA256: d.GetContent().GetSha256(),
		Element: elementIn(d.GetElement()), Dimensions: slices.Clone(d.GetDimensions()), Mode: modeIn(d.GetMode()),
		Owner: d.GetOwner(), Site: d.GetSite(), Copy: d.GetCopy(), Put: timeIn(d.GetPutAt()), Used: timeIn(d.GetUsedAt()), Job: d.GetJobId(),
	}
}

// valueOut returns data as the value of an argument.
func (s *stored) valueOut() *droverv1.Value {
	content := &droverv1.File{DataId: s.data.ID, Name: s.data.Name}
	if s.data.Element == "" {
		return &droverv1.Value{Kind: &droverv1.Value_FileValue{FileValue: content}}
	}
	return &droverv1.Value{Kind: &droverv1.Value_ArrayValue{ArrayValue: &droverv1.Array{
		Content: content, Element: elementOut(s.data.Element), Dimensions: s.data.Dimensions,
	}}}
}

// contentOf returns the content of a value, nil for one that has none.
func contentOf(v *droverv1.Value) *droverv1.File {
	if a := v.GetArrayValue(); a != nil {
		return a.GetContent()
	}
	return v.GetFileValue()
}

// keepOut returns what is to be kept.
func keepOut(list []keep) map[string]*droverv1.Keep {
	var m map[string]*droverv1.Keep
	for _, k := range list {
		if m == nil {
			m = make(map[string]*droverv1.Keep)
		}
		m[k.argument] = &droverv1.Keep{DataId: k.id, Mode: modeOut(k.mode)}
	}
	return m
}

// keptIn returns what a request has kept, by the names of arguments; nil for nothing.
func keptIn(r *droverv1.Request) map[string]Kept {
	var m map[string]Kept
	for name, k := range r.GetKeep() {
		if m == nil {
			m = make(map[string]Kept)
		}
		m[name] = Kept{ID: k.GetDataId(), Mode: modeIn(k.GetMode())}
	}
	return m
}

// handles adds the data that the request uses.
func (s *sentRequest) handles(names map[string]string) {
	for name, v := range s.message.GetArguments() {
		if id := contentOf(v).GetDataId(); id != "" {
			names[id] = name
		}
	}
}

// renewKept gives what is to be kept other handles.
func (s *sentRequest) renewKept() error {
	m := s.out(s.message.GetRetryOf())
	for _, k := range m.GetKeep() {
		id, err := newHandle()
		if err != nil {
			return err
		}
		k.DataId = id
	}
	s.message = m
	return nil
}

func (f *face) putData(ctx context.Context, server string, d *Data) (*Data, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).PutData(ctx, &droverv1.PutDataRequest{Data: dataOut(d)})
	if err != nil {
		return nil, call.noDepot(err)
	}
	return dataIn(res.GetData()), nil
}

// getData returns those that a server has.
func (f *face) getData(ctx context.Context, server string, ids []string) ([]Data, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).GetData(ctx, &droverv1.GetDataRequest{Ids: ids})
	if err != nil {
		return nil, call.noDepot(err)
	}
	var list []Data
	for _, d := range res.GetData() {
		list = append(list, *dataIn(d))
	}
	return list, nil
}

// copyData has a server bring data, and tells how far it has come. A server that says
// nothing for long counts as broken.
func (f *face) copyData(ctx context.Context, server, id string, see func(have, size int64)) (*Data, error) {
	ctx, w := watchOver(ctx)
	defer w.end()
	ctx, call := begin(ctx, "server", server)
	stream, err := f.server(server).CopyData(ctx, &droverv1.CopyDataRequest{Id: id})
	if err != nil {
		return nil, call.noDepot(lateness(ctx, err))
	}
	defer stream.Close()
	for stream.Receive() {
		w.timer.Reset(longestLull)
		m := stream.Msg()
		if d := m.GetData(); d != nil {
			see(d.GetContent().GetSizeBytes(), d.GetContent().GetSizeBytes())
			return dataIn(d), nil
		}
		see(m.GetHaveBytes(), m.GetSizeBytes())
	}
	if err := stream.Err(); err != nil {
		return nil, call.noDepot(lateness(ctx, err))
	}
	return nil, call.failed(connect.NewError(connect.CodeUnavailable, fmt.Errorf("the copy of data %s has ended before it was whole", id)))
}

// downloadData calls write with each piece of data from an offset on.
func (f *face) downloadData(ctx context.Context, server, id string, offset int64, write func([]byte) error) error {
	if f.caller.Files() != nil {
		if err := f.fetch(ctx, server, "/v1/data/"+url.PathEscape(id), offset, write); !errors.Is(err, errNoPlain) {
			return err
		}
	}
	ctx, w := watchOver(ctx)
	defer w.end()
	ctx, call := begin(ctx, "server", server)
	stream, err := f.server(server).DownloadData(ctx, &droverv1.DownloadDataRequest{Id: id, Offset: offset})
	if err != nil {
		return call.noDepot(lateness(ctx, err))
	}
	defer stream.Close()
	for stream.Receive() {
		w.timer.Reset(longestLull)
		if err := write(stream.Msg().GetData()); err != nil {
			return local(err)
		}
	}
	return call.noDepot(lateness(ctx, stream.Err()))
}

// lateness says of the error of a transfer that it got no further, if that ended it.
func lateness(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), os.ErrDeadlineExceeded) {
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	}
	return err
}

// noDepot is failed, of calls that older servers have never heard of.
func (c *call) noDepot(err error) error {
	if connect.CodeOf(err) != connect.CodeUnimplemented {
		return c.failed(err)
	}
	return &Error{Reason: "cannot-run", Message: fmt.Sprintf("%s %s: %v", c.who, c.url, errNoDepot), kind: submission.Refused, err: err}
}

// located returns data with the URL of the server that has them.
func located(l *droverv1.LocatedData) Data {
	d := dataIn(l.GetData())
	d.address = l.GetAddress()
	return *d
}

func (f *face) findData(ctx context.Context, agent, id string) (*DataList, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).FindData(ctx, &droverv1.FindDataRequest{Id: id})
	if err != nil {
		return nil, call.noDepot(err)
	}
	list := &DataList{}
	for _, l := range res.GetData() {
		list.Data = append(list.Data, located(l))
	}
	missing := make(map[string]Missing)
	addMissing(missing, res.GetMissing())
	list.Missing = inOrder(missing)
	return list, nil
}

// listData returns one page, and adds the sites that did not answer to missing.
func (f *face) listData(ctx context.Context, agent, filter, token string, missing map[string]Missing) ([]Data, string, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).ListData(ctx, &droverv1.AgentServiceListDataRequest{Filter: filter, PageToken: token})
	if err != nil {
		return nil, "", call.noDepot(err)
	}
	var list []Data
	for _, d := range res.GetData() {
		list = append(list, *dataIn(d))
	}
	addMissing(missing, res.GetMissing())
	return list, res.GetNextPageToken(), nil
}

func (f *face) removeData(ctx context.Context, agent, id string) ([]string, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).RemoveData(ctx, &droverv1.AgentServiceRemoveDataRequest{Id: id})
	if err != nil {
		return nil, call.noDepot(err)
	}
	return res.GetSites(), nil
}

func usageIn(u *droverv1.DataUsage) DataUsage {
	return DataUsage{
		Handles: int(u.GetHandles()), Used: u.GetUsedBytes(), Quota: u.GetQuotaBytes(), OwnerQuota: u.GetOwnerQuotaBytes(), Evicted: u.GetEvicted(),
	}
}

// nameOf returns content for people: its name, or that it is data at a site.
func nameOf(f *droverv1.File) string {
	if id := f.GetDataId(); id != "" {
		return storedPrefix + id
	}
	return f.GetName()
}
