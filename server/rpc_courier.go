package server

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// peerFace calls other servers.
type peerFace struct{ caller *rpc.Caller }

func newPeerFace() *peerFace {
	return &peerFace{caller: rpc.NewCaller(rpc.CallerConfig{DialTimeout: 5 * time.Second})}
}

func (f *peerFace) client(url string) droverv1connect.PeerServiceClient {
	return rpc.Client(f.caller, droverv1connect.NewPeerServiceClient, url)
}

// carry sends a message to a server and returns its answer.
func (f *peerFace) carry(ctx context.Context, url string, m *site.Message) (site.Message, error) {
	answer := site.Message{From: m.To, To: m.From, Job: m.Job, Epoch: m.Epoch}
	c := f.client(url)
	job, epoch, from := string(m.Job), m.Epoch, m.From
	switch m.Kind {
	case site.Reserve:
		req := &droverv1.ReserveRequest{
			JobId: job, Epoch: epoch, From: from, Request: requestOut(&m.Parcel.Dossier.Request), Age: durationOut(m.Parcel.Age),
			SentAt: timeOut(m.Parcel.Sent), Retried: uint32(m.Parcel.Retried), Decision: decisionOut(m.Parcel.Dossier.Decision),
		}
		if m.Parcel.Present != batch.Forever {
			req.PresentCompletion = durationOut(m.Parcel.Present)
		}
		for i := range m.Parcel.Moves {
			req.Moves = append(req.Moves, moveOut(m.Job, "", &m.Parcel.Moves[i]))
		}
		res, err := c.Reserve(ctx, req)
		if err != nil {
			return answer, fmt.Errorf("reserve: %w", err)
		}
		answer.Kind, answer.Why = reserveIn[res.GetAnswer()], plainly(shortly(res.GetWhy()))
		answer.Shape = batch.Shape{Width: res.GetShape().GetWidth()}
		if answer.Shape.Walltime, err = durationIn("shape.walltime", res.GetShape().GetWalltime()); err != nil {
			return answer, err
		}
		if answer.Completion, err = durationIn("completion", res.GetCompletion()); err != nil {
			return answer, err
		}
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

// read returns an input file of another server's job, from offset on. What fails is told
// by Read.
func (f *peerFace) read(ctx context.Context, url string, id batch.JobID, argument string, offset int64) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := f.client(url).ReadContent(ctx, &droverv1.ReadContentRequest{JobId: string(id), Argument: argument, Offset: offset})
	return &pieceStream[droverv1.ReadContentResponse]{stream: stream, piece: (*droverv1.ReadContentResponse).GetData, err: err, cancel: cancel}
}
