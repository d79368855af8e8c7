package rpc

import (
	"context"
	"fmt"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// settlementsIn maps the operator's decisions from the wire.
var settlementsIn = map[droverv1.Settlement]site.Settlement{
	droverv1.Settlement_SETTLEMENT_COMMITTED: site.SettleCommitted,
	droverv1.Settlement_SETTLEMENT_ABORTED:   site.SettleAborted,
	droverv1.Settlement_SETTLEMENT_TAKE_BACK: site.SettleTakeBack,
}

// Withdraw makes sure that a job is never accepted here.
func (h handler) Withdraw(ctx context.Context, req *droverv1.WithdrawRequest) (*droverv1.WithdrawResponse, error) {
	withdrawn, j, err := h.s.Withdraw(ctx, req.GetJobId())
	if err != nil {
		return nil, err
	}
	if withdrawn {
		return &droverv1.WithdrawResponse{Withdrawn: true}, nil
	}
	return &droverv1.WithdrawResponse{Job: h.jobOut(&j)}, nil
}

// MoveJob starts to move a job.
func (h handler) MoveJob(ctx context.Context, req *droverv1.MoveJobRequest) (*droverv1.MoveJobResponse, error) {
	j, err := h.s.Move(ctx, site.MoveRequest{
		Job: batch.JobID(req.GetJobId()), To: req.GetTo(), Seen: req.GetSeenEpoch(), MinGain: gainIn(req.GetMinGain()),
		Reason: req.GetReason(), Agent: req.GetAgent(),
	})
	if err != nil {
		return nil, err
	}
	return &droverv1.MoveJobResponse{Job: h.jobOut(&j)}, nil
}

// HoldJobs holds jobs for a reallocation round.
func (h handler) HoldJobs(ctx context.Context, req *droverv1.HoldJobsRequest) (*droverv1.HoldJobsResponse, error) {
	var ids []batch.JobID
	for _, id := range req.GetJobIds() {
		ids = append(ids, batch.JobID(id))
	}
	held, err := h.s.Hold(ctx, req.GetRound(), durationIn(req.GetLease()), ids)
	if err != nil {
		return nil, err
	}
	return &droverv1.HoldJobsResponse{Jobs: digestsOut(held)}, nil
}

// PlaceJobs ends a reallocation round.
func (h handler) PlaceJobs(ctx context.Context, req *droverv1.PlaceJobsRequest) (*droverv1.PlaceJobsResponse, error) {
	list := make([]site.Placement, 0, len(req.GetPlacements()))
	for i, p := range req.GetPlacements() {
		placement := site.Placement{
			Job: batch.JobID(p.GetJobId()), To: p.GetTo(), MinGain: gainIn(p.GetMinGain()),
			Reason: p.GetReason(),
		}
		if p.GetTo() != "" {
			if err := h.s.CheckPeerName(fmt.Sprintf("placements[%d].to", i), p.GetTo()); err != nil {
				return nil, err
			}
		}
		if p.GetShape() != nil {
			placement.Shape = shapeIn(p.GetShape())
		}
		list = append(list, placement)
	}
	jobs, err := h.s.Place(ctx, req.GetRound(), req.GetAgent(), list)
	if err != nil {
		return nil, err
	}
	return &droverv1.PlaceJobsResponse{Jobs: digestsOut(jobs)}, nil
}

// ListMoves lists the known moves.
func (h handler) ListMoves(
	ctx context.Context, req *droverv1.ServerServiceListMovesRequest,
) (*droverv1.ServerServiceListMovesResponse, error) {
	size, err := rpc.PageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	filter, err := site.ParseMoveFilter(req.GetFilter())
	if err != nil {
		return nil, err
	}
	var after site.MoveCursor
	if err := rpc.ParseToken(req.GetPageToken(), &after); err != nil {
		return nil, err
	}
	page, err := h.s.Moves(ctx, filter, after, size+1)
	if err != nil {
		return nil, err
	}
	out := &droverv1.ServerServiceListMovesResponse{}
	for i := range page[:min(size, len(page))] {
		out.Moves = append(out.Moves, moveOut(page[i].Job, page[i].Service, &page[i].Move))
	}
	if len(page) > size {
		out.NextPageToken = rpc.Token(page[size-1].Cursor())
	}
	return out, nil
}

// SettleJob ends a move as the operator decided.
func (h handler) SettleJob(ctx context.Context, req *droverv1.SettleJobRequest) (*droverv1.SettleJobResponse, error) {
	j, err := h.s.Settle(ctx, req.GetJobId(), req.GetEpoch(), settlementsIn[req.GetSettlement()], req.GetReason())
	if err != nil {
		return nil, err
	}
	return &droverv1.SettleJobResponse{Job: h.jobOut(&j)}, nil
}

// WatchJobs sends digests of all jobs that are not final, and of every change.
func (h handler) WatchJobs(
	ctx context.Context, _ *droverv1.WatchJobsRequest, stream *connect.ServerStream[droverv1.WatchJobsResponse],
) error {
	return h.s.WatchJobs(ctx, func(jobs []site.Job, synced bool) error {
		return stream.Send(&droverv1.WatchJobsResponse{Jobs: digestsOut(jobs), Synced: synced})
	})
}

func digestsOut(jobs []site.Job) []*droverv1.JobDigest {
	out := make([]*droverv1.JobDigest, 0, len(jobs))
	for i := range jobs {
		out = append(out, digestOut(&jobs[i]))
	}
	return out
}

func digestOut(j *site.Job) *droverv1.JobDigest {
	return &droverv1.JobDigest{
		Id: string(j.ID), State: statesOut[j.State], Epoch: j.Epoch, Service: j.Service, Owner: j.Owner,
		Shape:       rpc.Shape(j.Shape),
		SubmittedAt: timeOut(j.Submitted), StartedAt: timeOut(j.Started), MovedTo: j.MovedTo(),
	}
}

// The states of a move on the wire.
var (
	moveStatesOut = map[site.MoveState]droverv1.MoveState{
		site.MovePending:   droverv1.MoveState_MOVE_STATE_PENDING,
		site.MoveCommitted: droverv1.MoveState_MOVE_STATE_MOVED,
		site.MoveAborted:   droverv1.MoveState_MOVE_STATE_ABORTED,
	}
	moveStatesIn = inverse(moveStatesOut)
)

// moveOut returns a move for the wire.
func moveOut(id batch.JobID, service string, m *site.Move) *droverv1.Move {
	out := &droverv1.Move{
		JobId: string(id), Service: service, From: m.From, To: m.To, Epoch: m.Epoch, State: moveStatesOut[m.State],
		OrderedAt: timeOut(m.Ordered), SettledAt: timeOut(m.Settled), Reason: m.Reason, Agent: m.Agent,
		AbortedWhy: m.Why,
	}
	if m.MinGain != site.AnyGain {
		out.MinGain = gainOut(&m.MinGain)
	}
	out.PredictedGain, out.RealizedGain = gainOut(m.Predicted), gainOut(m.Realized)
	return out
}

// moveIn is the inverse of moveOut.
func moveIn(m *droverv1.Move) site.Move {
	out := site.Move{
		From: m.GetFrom(), To: m.GetTo(), Epoch: m.GetEpoch(), State: moveStatesIn[m.GetState()],
		Reason: m.GetReason(), Agent: m.GetAgent(), Why: m.GetAbortedWhy(), MinGain: gainIn(m.GetMinGain()),
	}
	if m.GetPredictedGain() != nil {
		gain := gainIn(m.GetPredictedGain())
		out.Predicted = &gain
	}
	if m.GetRealizedGain() != nil {
		gain := gainIn(m.GetRealizedGain())
		out.Realized = &gain
	}
	out.Ordered, out.Settled = timeIn(m.GetOrderedAt()), timeIn(m.GetSettledAt())
	return out
}
