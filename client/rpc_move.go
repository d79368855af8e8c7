package client

import (
	"context"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func (f *face) move(ctx context.Context, agent, id string, o MoveOrder) (*Job, string, error) {
	ctx, call := begin(ctx, "agent", agent)
	req := &droverv1.AgentServiceMoveJobRequest{JobId: id, To: o.To, Reason: o.Reason}
	if o.MinGain != nil {
		req.MinGain = durationpb.New(*o.MinGain)
	}
	res, err := f.agent(agent).MoveJob(ctx, req)
	if err != nil {
		return nil, "", call.failed(err)
	}
	return jobIn(res.GetJob()), res.GetTo().GetSite(), nil
}

// moves returns one page, and adds the sites that did not answer to missing.
func (f *face) moves(ctx context.Context, agent, filter, token string, missing map[string]Missing) ([]Move, string, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).ListMoves(ctx, &droverv1.AgentServiceListMovesRequest{Filter: filter, PageToken: token})
	if err != nil {
		return nil, "", call.failed(err)
	}
	var moves []Move
	for _, m := range res.GetMoves() {
		moves = append(moves, moveIn(m))
	}
	addMissing(missing, res.GetMissing())
	return moves, res.GetNextPageToken(), nil
}

func (f *face) setDraining(ctx context.Context, agent, site string, draining bool) (*Status, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).SetDraining(ctx, &droverv1.AgentServiceSetDrainingRequest{Site: site, Draining: draining})
	if err != nil {
		return nil, call.failed(err)
	}
	return statusIn(res.GetStatus()), nil
}

func (f *face) settle(ctx context.Context, agent, site string, s Settlement) (*Job, error) {
	ctx, call := begin(ctx, "agent", agent)
	as := "SETTLEMENT_" + strings.ToUpper(strings.ReplaceAll(string(s.As), "-", "_"))
	res, err := f.agent(agent).SettleJob(ctx, &droverv1.AgentServiceSettleJobRequest{Site: site, Settle: &droverv1.SettleJobRequest{
		JobId: s.Job, Epoch: s.Epoch, Settlement: droverv1.Settlement(droverv1.Settlement_value[as]), Reason: s.Reason,
	}})
	if err != nil {
		return nil, call.failed(err)
	}
	return jobIn(res.GetJob()), nil
}

func moveIn(m *droverv1.Move) Move {
	return Move{
		Job: m.GetJobId(), Service: m.GetService(), From: m.GetFrom(), To: m.GetTo(), Epoch: m.GetEpoch(),
		State: MoveState(word(m.GetState().String(), "MOVE_STATE_")), Ordered: timeIn(m.GetOrderedAt()), Settled: timeIn(m.GetSettledAt()),
		Reason: m.GetReason(), Agent: m.GetAgent(), AbortedWhy: m.GetAbortedWhy(),
		PredictedGain: spanIn(m.GetPredictedGain()), RealisedGain: spanIn(m.GetRealisedGain()), MinGain: spanIn(m.GetMinGain()),
	}
}

// spanIn returns a duration, nil for none.
func spanIn(d *durationpb.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	v := d.AsDuration()
	return &v
}
