package rpc

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/files"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// The kinds of answers on the wire.
var (
	reserveOut = map[site.MessageKind]droverv1.ReserveAnswer{
		site.Reserved:   droverv1.ReserveAnswer_RESERVE_ANSWER_RESERVED,
		site.Superseded: droverv1.ReserveAnswer_RESERVE_ANSWER_SUPERSEDED,
		site.Refused:    droverv1.ReserveAnswer_RESERVE_ANSWER_REFUSED,
	}
	resolveOut = map[site.MessageKind]droverv1.ResolveAnswer{
		site.Pending:   droverv1.ResolveAnswer_RESOLVE_ANSWER_PENDING,
		site.Aborted:   droverv1.ResolveAnswer_RESOLVE_ANSWER_ABORTED,
		site.Committed: droverv1.ResolveAnswer_RESOLVE_ANSWER_COMMITTED,
	}
	reserveIn = inverse(reserveOut)
	resolveIn = inverse(resolveOut)
)

// Reserve reserves a slot for a job of the calling server.
func (h peerHandler) Reserve(ctx context.Context, req *droverv1.ReserveRequest) (*droverv1.ReserveResponse, error) {
	if err := h.s.CheckPeerName("from", req.GetFrom()); err != nil {
		return nil, err
	}
	makePrintable(req.GetDecision())
	for _, m := range req.GetMoves() {
		makePrintable(m)
	}
	request, err := RequestIn(req.GetRequest())
	if err != nil {
		return nil, err
	}
	present := batch.Forever
	if req.GetPresentCompletion() != nil {
		present = durationIn(req.GetPresentCompletion())
	}
	parcel := &site.Parcel{
		Retried: uint8(req.GetRetried()), Dossier: &site.Dossier{Request: *request},
		Sent: timeIn(req.GetSentAt()), Age: durationIn(req.GetAge()), Present: present,
	}
	if req.GetDecision() != nil {
		if parcel.Dossier.Decision, err = proto.Marshal(req.GetDecision()); err != nil {
			return nil, fmt.Errorf("decision record: %w", err)
		}
	}
	if err := checkSize(req, parcel.Dossier); err != nil {
		return nil, err
	}
	for _, m := range req.GetMoves() {
		parcel.Moves = append(parcel.Moves, moveIn(m))
	}
	answer, err := h.s.Reserve(ctx, &site.Message{
		Kind: site.Reserve, From: req.GetFrom(), To: h.s.About().Name, Job: batch.JobID(req.GetJobId()),
		Epoch: req.GetEpoch(), Parcel: parcel,
	})
	if err != nil {
		return nil, err
	}
	out := &droverv1.ReserveResponse{Answer: reserveOut[answer.Kind], Why: answer.Why}
	if answer.Kind == site.Reserved {
		out.Shape, out.Completion = rpc.Shape(answer.Shape), rpc.Duration(answer.Completion)
	}
	return out, nil
}

// Confirm commits a move.
func (h peerHandler) Confirm(ctx context.Context, req *droverv1.ConfirmRequest) (*droverv1.ConfirmResponse, error) {
	answer, err := h.receive(ctx, site.Confirm, req)
	if err != nil {
		return nil, err
	}
	return &droverv1.ConfirmResponse{Superseded: answer.Kind == site.Superseded}, nil
}

// Drop cancels the reservation of a move.
func (h peerHandler) Drop(ctx context.Context, req *droverv1.DropRequest) (*droverv1.DropResponse, error) {
	if _, err := h.receive(ctx, site.Drop, req); err != nil {
		return nil, err
	}
	return &droverv1.DropResponse{}, nil
}

// Resolve returns the result of a move.
func (h peerHandler) Resolve(ctx context.Context, req *droverv1.ResolveRequest) (*droverv1.ResolveResponse, error) {
	answer, err := h.receive(ctx, site.Resolve, req)
	if err != nil {
		return nil, err
	}
	return &droverv1.ResolveResponse{Answer: resolveOut[answer.Kind]}, nil
}

// step is the common part of the requests of a move.
type step interface {
	GetJobId() string
	GetEpoch() uint32
	GetFrom() string
}

func (h peerHandler) receive(ctx context.Context, kind site.MessageKind, req step) (site.Message, error) {
	return h.s.Receive(ctx, &site.Message{
		Kind: kind, From: req.GetFrom(), To: h.s.About().Name,
		Job: batch.JobID(req.GetJobId()), Epoch: req.GetEpoch(),
	})
}

// ReadContent sends an input file of a job.
func (h peerHandler) ReadContent(
	ctx context.Context, req *droverv1.ReadContentRequest, stream *connect.ServerStream[droverv1.ReadContentResponse],
) error {
	return h.s.SendInput(ctx, req.GetJobId(), req.GetArgument(), req.GetOffset(), func(part files.Piece) error {
		return stream.Send(&droverv1.ReadContentResponse{Data: part.Data, Offset: part.Offset})
	})
}
