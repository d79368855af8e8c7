package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"connectrpc.com/connect"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func (f *face) submit(ctx context.Context, server, id string, r *request, m ranking) (*Job, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).Submit(ctx, &droverv1.SubmitRequest{JobId: id, Request: requestOut(r), Decision: m.record})
	if err != nil {
		return nil, call.failed(err)
	}
	return jobIn(res.GetJob()), nil
}

// withdraw returns nil when the job is withdrawn, the job when it was accepted.
func (f *face) withdraw(ctx context.Context, server, id string) (*Job, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).Withdraw(ctx, &droverv1.WithdrawRequest{JobId: id})
	switch {
	case err != nil:
		return nil, call.failed(err)
	case res.GetWithdrawn():
		return nil, nil
	case res.GetJob().GetId() != id:
		return nil, call.failed(fmt.Errorf("an answer about job %q in place of %s", res.GetJob().GetId(), id))
	}
	return jobIn(res.GetJob()), nil
}

func (f *face) job(ctx context.Context, server, id string) (*Job, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).GetJob(ctx, &droverv1.GetJobRequest{JobId: id})
	if err != nil {
		return nil, call.failed(err)
	}
	return jobIn(res.GetJob()), nil
}

func (f *face) cancel(ctx context.Context, server, id string) (*Job, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).CancelJob(ctx, &droverv1.CancelJobRequest{JobId: id})
	if err != nil {
		return nil, call.failed(err)
	}
	return jobIn(res.GetJob()), nil
}

func (f *face) status(ctx context.Context, server string) (*Status, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).GetStatus(ctx, &droverv1.GetStatusRequest{})
	if err != nil {
		return nil, call.failed(err)
	}
	return statusIn(res.GetStatus()), nil
}

// offers returns what a server offers.
func (f *face) offers(ctx context.Context, server string) ([]Service, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).Describe(ctx, &droverv1.DescribeRequest{})
	if err != nil {
		return nil, call.failed(err)
	}
	var services []Service
	for _, s := range res.GetServices() {
		services = append(services, serviceIn(&droverv1.OfferedService{Service: s, Sites: []string{res.GetSite().GetName()}}))
	}
	return services, nil
}

// errEnded is the failure of a watch that ends before the job has.
var errEnded = errors.New("the server ended the watch before the job ended")

// watch calls see with each state until it says that this was the end. The first
// one has to come within a time: servers send it at once.
func (f *face) watch(ctx context.Context, server, id string, within time.Duration, see func(*Job) (end bool, err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream on the server, too
	ctx, call := begin(ctx, "server", server)
	first := time.AfterFunc(within, cancel)
	defer first.Stop()
	heard := false
	failed := func(err error) error {
		if !heard && !first.Stop() {
			err = connect.NewError(connect.CodeDeadlineExceeded, err)
		}
		return call.failed(err)
	}
	stream, err := f.server(server).WatchJob(ctx, &droverv1.WatchJobRequest{JobId: id})
	if err != nil {
		return failed(err)
	}
	defer stream.Close()
	for stream.Receive() {
		heard = true
		first.Stop()
		job := jobIn(stream.Msg().GetJob())
		job.sent = sentIn(stream.Msg().GetJob())
		if end, err := see(job); end || err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return failed(err)
	}
	return failed(errEnded)
}

// logs calls write with each piece and where in the stream it begins.
func (f *face) logs(ctx context.Context, server, id string, o LogOptions, write func(int64, []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx, call := begin(ctx, "server", server)
	which := droverv1.LogStream_LOG_STREAM_STDOUT
	if o.Stderr {
		which = droverv1.LogStream_LOG_STREAM_STDERR
	}
	stream, err := f.server(server).ReadLogs(ctx, &droverv1.ReadLogsRequest{JobId: id, Stream: which, Follow: o.Follow, Offset: o.Offset})
	if err != nil {
		return call.failed(err)
	}
	defer stream.Close()
	for stream.Receive() {
		if err := write(stream.Msg().GetOffset(), stream.Msg().GetData()); err != nil {
			return local(err)
		}
	}
	return call.failed(stream.Err())
}

// download calls write with each piece from an offset on.
func (f *face) download(ctx context.Context, server, id, argument string, offset int64, write func([]byte) error) error {
	if f.caller.Files() != nil {
		if err := f.get(ctx, server, id, argument, offset, write); !errors.Is(err, errNoPlain) {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx, call := begin(ctx, "server", server)
	stream, err := f.server(server).Download(ctx, &droverv1.DownloadRequest{JobId: id, Argument: argument, Offset: offset})
	if err != nil {
		return call.failed(err)
	}
	defer stream.Close()
	for stream.Receive() {
		if err := write(stream.Msg().GetData()); err != nil {
			return local(err)
		}
	}
	return call.failed(stream.Err())
}

// stat asks what a server has of a file's content. One that cannot tell has nothing.
func (f *face) stat(ctx context.Context, server string, c *file) (arrived, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).StatContent(ctx, &droverv1.StatContentRequest{Sha256: c.sha256, SizeBytes: c.size})
	if connect.CodeOf(err) == connect.CodeUnimplemented {
		return arrived{old: true}, nil
	}
	if err != nil {
		return arrived{}, call.failed(err)
	}
	return arrived{complete: res.GetComplete(), have: min(res.GetHaveBytes(), c.size), arriving: res.GetArriving()}, nil
}

// upload sends what is missing of a file's content.
func (f *face) upload(ctx context.Context, server string, c *file, at arrived, see func(sent int64)) error {
	offset := min(at.have, max(c.size-1, 0)) // plain HTTP has no way to send nothing
	opened, err := c.open()
	if err != nil {
		return err
	}
	defer opened.Close()
	if err := skip(opened, offset); err != nil {
		return fmt.Errorf("read %s: %w", c.name, err)
	}
	content := &counted{Reader: opened, n: offset, see: see}
	if f.caller.Files() != nil && !at.old {
		return f.put(ctx, server, c, content, offset)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx, call := begin(ctx, "server", server)
	stream, err := f.server(server).Upload(ctx)
	if err != nil {
		return call.failed(err)
	}
	first := &droverv1.UploadRequest{Sha256: c.sha256, SizeBytes: c.size, Offset: offset}
	buffer := make([]byte, piece)
	for {
		n, err := io.ReadFull(content, buffer)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("read %s: %w", c.name, err)
		}
		last := err != nil
		first.Data = buffer[:n]
		if err := stream.Send(first); err != nil {
			break // CloseAndReceive says why
		}
		if last {
			break
		}
		first = &droverv1.UploadRequest{}
	}
	_, err = stream.CloseAndReceive()
	return call.failed(err)
}
