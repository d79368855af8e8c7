package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// Failures of streams that end before their last message.
var (
	errWatchEnded = errors.New("the server ended the watch")
	errCopyEnded  = errors.New("the server ended the copy before it was complete")
)

// Submit returns the Job. The decision is the record of the Map call before it;
// it may be none.
func (c *Conn) Submit(ctx context.Context, url, id string, r Request, decision Message) (Message, error) {
	record, _ := decision.m.(*droverv1.DecisionRecord)
	res, err := unary(ctx, server, url, c.server(url).Submit, &droverv1.SubmitRequest{
		JobId: id, Request: r.m, Decision: record,
	})
	return message(res.GetJob(), err)
}

// Withdraw reports whether the server has withdrawn a job. If it has accepted the
// job before, it returns the Job.
func (c *Conn) Withdraw(ctx context.Context, url, id string) (job Message, withdrawn bool, err error) {
	ctx, call := begin(ctx, server, url)
	res, err := c.server(url).Withdraw(ctx, &droverv1.WithdrawRequest{JobId: id})
	switch {
	case err != nil:
		return Message{}, false, call.failed(err)
	case res.GetWithdrawn():
		return Message{}, true, nil
	case res.GetJob().GetId() != id:
		return Message{}, false,
			call.failed(fmt.Errorf("the answer is about job %q instead of %s", res.GetJob().GetId(), id))
	}
	return Message{res.GetJob()}, false, nil
}

// GetJob returns a Job.
func (c *Conn) GetJob(ctx context.Context, url, id string) (Message, error) {
	res, err := unary(ctx, server, url, c.server(url).GetJob, &droverv1.GetJobRequest{JobId: id})
	return message(res.GetJob(), err)
}

// CancelJob returns a Job.
func (c *Conn) CancelJob(ctx context.Context, url, id string) (Message, error) {
	res, err := unary(ctx, server, url, c.server(url).CancelJob, &droverv1.CancelJobRequest{JobId: id})
	return message(res.GetJob(), err)
}

// GetStatus returns a SiteStatus.
func (c *Conn) GetStatus(ctx context.Context, url string) (Message, error) {
	res, err := unary(ctx, server, url, c.server(url).GetStatus, &droverv1.GetStatusRequest{})
	return message(res.GetStatus(), err)
}

// Describe returns a server's services as a ListServicesResponse.
func (c *Conn) Describe(ctx context.Context, url string) (Message, error) {
	res, err := unary(ctx, server, url, c.server(url).Describe, &droverv1.DescribeRequest{})
	list := &droverv1.ListServicesResponse{}
	for _, s := range res.GetServices() {
		list.Services = append(list.Services, &droverv1.OfferedService{
			Service: s, Sites: []string{res.GetSite().GetName()},
		})
	}
	return message(list, err)
}

// BookReservation takes a struct that mirrors a Booking, and returns a
// Reservation.
func (c *Conn) BookReservation(ctx context.Context, url string, booking any) (Message, error) {
	req := &droverv1.BookReservationRequest{Booking: fill(&droverv1.Booking{}, booking)}
	res, err := unary(ctx, server, url, c.server(url).BookReservation, req)
	return message(res.GetReservation(), err)
}

// PutData takes a struct that mirrors a Data, and returns the Data.
func (c *Conn) PutData(ctx context.Context, url string, data any) (Message, error) {
	res, err := unary(ctx, server, url, c.server(url).PutData,
		&droverv1.PutDataRequest{Data: fill(&droverv1.Data{}, data)})
	return message(res.GetData(), err)
}

// GetData returns a GetDataResponse.
func (c *Conn) GetData(ctx context.Context, url string, ids []string) (Message, error) {
	res, err := unary(ctx, server, url, c.server(url).GetData, &droverv1.GetDataRequest{Ids: ids})
	return message(res, err)
}

// StatContent returns a StatContentResponse.
func (c *Conn) StatContent(ctx context.Context, url, sha256 string, size int64) (Message, error) {
	res, err := unary(ctx, server, url, c.server(url).StatContent, &droverv1.StatContentRequest{
		Sha256: sha256, SizeBytes: size,
	})
	return message(res, err)
}

// WatchJob calls see with each Job until see ends the watch. The first one has to
// arrive within a time: servers send it at once.
func (c *Conn) WatchJob(
	ctx context.Context, url, id string, within time.Duration, see func(Message) (end bool, err error),
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream on the server too
	ctx, call := begin(ctx, server, url)
	late := time.AfterFunc(within, cancel)
	defer late.Stop()
	answered := false
	failed := func(err error) error {
		if !answered && !late.Stop() {
			err = connect.NewError(connect.CodeDeadlineExceeded, err)
		}
		return call.failed(err)
	}
	stream, err := c.server(url).WatchJob(ctx, &droverv1.WatchJobRequest{JobId: id})
	if err != nil {
		return failed(err)
	}
	defer stream.Close()
	for stream.Receive() {
		answered = true
		late.Stop()
		if end, err := see(Message{stream.Msg().GetJob()}); end || err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return failed(err)
	}
	return failed(errWatchEnded)
}

// WatchSite calls see with each WatchSiteResponse until see ends the watch. An
// interval of 0 is the server's default.
func (c *Conn) WatchSite(
	ctx context.Context, url string, every time.Duration, see func(Message) (end bool, err error),
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream on the server too
	ctx, call := begin(ctx, server, url)
	req := &droverv1.WatchSiteRequest{}
	if every > 0 {
		req.Every = durationpb.New(every)
	}
	stream, err := c.server(url).WatchSite(ctx, req)
	if err != nil {
		return call.failed(err)
	}
	defer stream.Close()
	for stream.Receive() {
		if end, err := see(Message{stream.Msg()}); end || err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return call.failed(err)
	}
	return call.failed(errWatchEnded)
}

// LogOptions selects what ReadLogs reads.
type LogOptions struct {
	Stderr bool  // standard error instead of standard output
	Follow bool  // read until the job has ended
	Offset int64 // where to begin, bytes
}

// ReadLogs calls write with each piece of a job's log and its offset in the
// stream.
func (c *Conn) ReadLogs(
	ctx context.Context, url, id string, o LogOptions, write func(offset int64, piece []byte) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx, call := begin(ctx, server, url)
	which := droverv1.LogStream_LOG_STREAM_STDOUT
	if o.Stderr {
		which = droverv1.LogStream_LOG_STREAM_STDERR
	}
	stream, err := c.server(url).ReadLogs(ctx, &droverv1.ReadLogsRequest{
		JobId: id, Stream: which, Follow: o.Follow, Offset: o.Offset,
	})
	if err != nil {
		return call.failed(err)
	}
	defer stream.Close()
	for stream.Receive() {
		if err := write(stream.Msg().GetOffset(), stream.Msg().GetData()); err != nil {
			return Local(err)
		}
	}
	return call.failed(stream.Err())
}

// CopyData has a server copy data from another site, and reports how far the copy
// is. It returns the Data. A stream that is silent for too long counts as broken.
func (c *Conn) CopyData(ctx context.Context, url, id string, see func(have, size int64)) (Message, error) {
	ctx, w := watchOver(ctx)
	defer w.end()
	ctx, call := begin(ctx, server, url)
	stream, err := c.server(url).CopyData(ctx, &droverv1.CopyDataRequest{Id: id})
	if err != nil {
		return Message{}, call.failed(w.late(ctx, err))
	}
	defer stream.Close()
	for stream.Receive() {
		w.progress()
		m := stream.Msg()
		if d := m.GetData(); d != nil {
			see(d.GetContent().GetSizeBytes(), d.GetContent().GetSizeBytes())
			return Message{d}, nil
		}
		see(m.GetHaveBytes(), m.GetSizeBytes())
	}
	if err := stream.Err(); err != nil {
		return Message{}, call.failed(w.late(ctx, err))
	}
	return Message{}, call.failed(connect.NewError(connect.CodeUnavailable, errCopyEnded))
}
