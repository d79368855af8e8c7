package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/files/depot"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// Peers calls other servers. It is safe for concurrent use.
type Peers struct{ caller *rpc.Caller }

// NewPeers returns a Peers without connections. Close ends the idle ones.
func NewPeers() *Peers {
	return &Peers{caller: rpc.NewCaller(rpc.CallerConfig{DialTimeout: 5 * time.Second})}
}

// Close closes idle connections.
func (p *Peers) Close() { p.caller.Close() }

// Sighting is what a server answers about a job.
type Sighting struct {
	State site.State // Absent: the server does not have the job
	Epoch uint32
}

func (p *Peers) client(url string) droverv1connect.PeerServiceClient {
	return rpc.Client(p.caller, droverv1connect.NewPeerServiceClient, url)
}

// Send sends a message of the move protocol to a server and returns its answer.
func (p *Peers) Send(ctx context.Context, url string, m *site.Message) (site.Message, error) {
	answer := site.Message{From: m.To, To: m.From, Job: m.Job, Epoch: m.Epoch}
	c := p.client(url)
	job, epoch, from := string(m.Job), m.Epoch, m.From
	switch m.Kind {
	case site.Reserve:
		req := &droverv1.ReserveRequest{
			JobId: job, Epoch: epoch, From: from, Request: requestOut(&m.Parcel.Dossier.Request),
			Age:    rpc.Duration(m.Parcel.Age),
			SentAt: timeOut(m.Parcel.Sent), Retried: uint32(m.Parcel.Retried),
			Decision: decisionOut(m.Parcel.Dossier.Decision),
		}
		if m.Parcel.Present != batch.Forever {
			req.PresentCompletion = rpc.Duration(m.Parcel.Present)
		}
		for i := range m.Parcel.Moves {
			req.Moves = append(req.Moves, moveOut(m.Job, "", &m.Parcel.Moves[i]))
		}
		res, err := c.Reserve(ctx, req)
		if err != nil {
			return answer, fmt.Errorf("reserve: %w", err)
		}
		answer.Kind, answer.Why = reserveIn[res.GetAnswer()], printable(truncate(res.GetWhy()))
		if err := rpc.Check("", res); err != nil {
			return answer, fmt.Errorf("reserve: %w", err)
		}
		answer.Shape, answer.Completion = shapeIn(res.GetShape()), durationIn(res.GetCompletion())
	case site.Confirm:
		res, err := c.Confirm(ctx, &droverv1.ConfirmRequest{JobId: job, Epoch: epoch, From: from})
		if err != nil {
			return answer, fmt.Errorf("confirm: %w", err)
		}
		if answer.Kind = site.Confirmed; res.GetSuperseded() {
			answer.Kind = site.Superseded
		}
	case site.Drop:
		if _, err := c.Drop(ctx, &droverv1.DropRequest{JobId: job, Epoch: epoch, From: from}); err != nil {
			return answer, fmt.Errorf("drop: %w", err)
		}
		answer.Kind = site.Dropped
	case site.Resolve:
		res, err := c.Resolve(ctx, &droverv1.ResolveRequest{JobId: job, Epoch: epoch, From: from})
		if err != nil {
			return answer, fmt.Errorf("resolve: %w", err)
		}
		answer.Kind = resolveIn[res.GetAnswer()]
	}
	return answer, nil
}

// OpenInput returns an input file of another server's job, from offset on. Read
// returns the error of a failed call.
func (p *Peers) OpenInput(
	ctx context.Context, url string, id batch.JobID, argument string, offset int64,
) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := p.client(url).ReadContent(ctx, &droverv1.ReadContentRequest{
		JobId: string(id), Argument: argument,
		Offset: offset,
	})
	return &contentStream{stream: stream, err: err, cancel: cancel}
}

// statesIn is the inverse of statesOut.
var statesIn = inverse(statesOut)

// public returns a client of another server's ServerService.
func (p *Peers) public(url string) droverv1connect.ServerServiceClient {
	return rpc.Client(p.caller, droverv1connect.NewServerServiceClient, url)
}

// FindJob asks a server about a job. An unknown job is not an error.
func (p *Peers) FindJob(ctx context.Context, url string, id batch.JobID) (Sighting, error) {
	res, err := p.public(url).GetJob(ctx, &droverv1.GetJobRequest{JobId: string(id)})
	if err != nil && reasonOf(err) == problem.UnknownJob {
		return Sighting{}, nil
	}
	if err != nil {
		return Sighting{}, err
	}
	return sightingOf(res.GetJob()), nil
}

// WatchJob passes the states of another server's job to seen until the job is final there.
func (p *Peers) WatchJob(ctx context.Context, url string, id batch.JobID, seen func(Sighting)) error {
	stream, err := p.public(url).WatchJob(ctx, &droverv1.WatchJobRequest{JobId: string(id)})
	if err != nil {
		return err
	}
	for stream.Receive() {
		seen(sightingOf(stream.Msg().GetJob()))
	}
	return errors.Join(stream.Err(), stream.Close())
}

func sightingOf(j *droverv1.Job) Sighting {
	state, known := statesIn[j.GetState()]
	if !known { // a state of a newer version: at least the job exists
		state = site.Waiting
	}
	return Sighting{State: state, Epoch: j.GetEpoch()}
}

// reasonOf returns the reason in the error of a call, "" if there is none.
func reasonOf(err error) problem.Reason {
	var ce *connect.Error
	if !errors.As(err, &ce) {
		return ""
	}
	for _, d := range ce.Details() {
		v, err := d.Value()
		if detail, ok := v.(*droverv1.ErrorDetail); ok && err == nil {
			return problem.Reason(detail.GetReason())
		}
	}
	return ""
}

// FindData asks another server for data. It returns nil if the server does not have them, and the
// reason if they were there.
func (p *Peers) FindData(ctx context.Context, url, id string) (d *depot.Data, gone string, err error) {
	res, err := p.public(url).GetData(ctx, &droverv1.GetDataRequest{Ids: []string{id}})
	if err != nil {
		return nil, "", fmt.Errorf("find data: %w", err)
	}
	for _, g := range res.GetGone() {
		gone = printable(truncate(g.GetMessage()))
	}
	for _, m := range res.GetData() {
		out := dataIn(m)
		return &out, "", nil
	}
	return nil, gone, nil
}

// OpenData returns the content of another server's data from offset on, over plain HTTP. Read
// returns the error of a failed request.
func (p *Peers) OpenData(ctx context.Context, url, id string, offset int64) io.ReadCloser {
	body, err := p.get(ctx, strings.TrimSuffix(url, "/")+"/v1/data/"+id, offset)
	return &bodyStream{body: body, err: err}
}

func (p *Peers) get(ctx context.Context, url string, offset int64) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	want := http.StatusOK
	if offset > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
		want = http.StatusPartialContent
	}
	res, err := p.caller.Files().Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == want {
		return res.Body, nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, rpc.LargestMessage))
	if err != nil {
		return nil, err
	}
	var detail droverv1.ErrorDetail
	if err := protojson.Unmarshal(text, &detail); err != nil {
		return nil, fmt.Errorf("GET %s: %s", url, res.Status)
	}
	return nil, rpc.ProblemOf(&detail)
}

// bodyStream is the body of an answer. Its errors are of the kind that Broken finds.
type bodyStream struct {
	body io.ReadCloser // nil if there is an err
	err  error
}

// Read implements io.Reader.
func (b *bodyStream) Read(buf []byte) (n int, err error) {
	if err = b.err; err == nil {
		n, err = b.body.Read(buf)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = connect.NewError(connect.CodeUnavailable, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *bodyStream) Close() error {
	if b.body == nil {
		return nil
	}
	return b.body.Close()
}

// Broken reports whether reading from another server failed in transit or at the other end, so that
// a retry can succeed.
func Broken(err error) bool {
	var broken *connect.Error
	return errors.As(err, &broken) || errors.Is(err, io.ErrUnexpectedEOF)
}

// contentStream reads the pieces of a file from another server as one stream.
type contentStream struct {
	stream *connect.ServerStreamForClient[droverv1.ReadContentResponse] // nil if there is an err
	rest   []byte
	err    error
	cancel context.CancelFunc
}

// Read implements io.Reader.
func (c *contentStream) Read(p []byte) (int, error) {
	for len(c.rest) == 0 && c.err == nil {
		if c.stream.Receive() {
			c.rest = c.stream.Msg().GetData()
			continue
		}
		if c.err = c.stream.Err(); c.err == nil {
			c.err = io.EOF
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	if n > 0 {
		return n, nil
	}
	return 0, c.err
}

// Close implements io.Closer.
func (c *contentStream) Close() error {
	c.cancel()
	if c.stream == nil {
		return nil
	}
	return c.stream.Close()
}
