package server

import (
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/server/site"
)

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
		OrderedAt: timeOut(m.Ordered), SettledAt: timeOut(m.Settled), Reason: m.Reason, Agent: m.Agent, AbortedWhy: m.Why,
	}
	if m.MinGain != site.AnyPrice {
		out.MinGain = gainOut(&m.MinGain)
	}
	out.PredictedGain, out.RealisedGain = gainOut(m.Predicted), gainOut(m.Realised)
	return out
}

// moveIn is the inverse of moveOut.
func moveIn(m *droverv1.Move) (site.Move, error) {
	out := site.Move{
		From: m.GetFrom(), To: m.GetTo(), Epoch: m.GetEpoch(), State: moveStatesIn[m.GetState()],
		Reason: m.GetReason(), Agent: m.GetAgent(), Why: m.GetAbortedWhy(), MinGain: gainIn(m.GetMinGain()),
	}
	if m.GetPredictedGain() != nil {
		gain := gainIn(m.GetPredictedGain())
		out.Predicted = &gain
	}
	if m.GetRealisedGain() != nil {
		gain := gainIn(m.GetRealisedGain())
		out.Realised = &gain
	}
	var err error
	if out.Ordered, err = timeIn("moves.ordered_at", m.GetOrderedAt()); err != nil {
		return out, err
	}
	out.Settled, err = timeIn("moves.settled_at", m.GetSettledAt())
	return out, err
}
