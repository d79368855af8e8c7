package client

import (
	"context"

	"google.golang.org/protobuf/types/known/durationpb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func (f *face) reallocate(ctx context.Context, agent string, o ReallocateOrder) (*Reallocation, error) {
	ctx, call := begin(ctx, "agent", agent)
	req := &droverv1.ReallocateRequest{DryRun: o.DryRun, Algorithm: o.Algorithm, Heuristic: o.Heuristic, Window: o.Window}
	if o.Threshold != nil {
		req.Threshold = durationpb.New(*o.Threshold)
	}
	if o.LeastGain != nil {
		req.LeastGain = durationpb.New(*o.LeastGain)
	}
	if o.MostMovesRound != nil {
		n := int32(*o.MostMovesRound)
		req.MostMovesRound = &n
	}
	res, err := f.agent(agent).Reallocate(ctx, req)
	if err != nil {
		return nil, call.failed(err)
	}
	r := res.GetRecord()
	out := &Reallocation{Round: RoundRecord{
		ID: r.GetRound(), Agent: r.GetAgent(), Began: timeIn(r.GetBeganAt()), DryRun: r.GetDryRun(),
		Algorithm: r.GetAlgorithm(), Heuristic: r.GetHeuristic(), Window: r.GetWindow(),
		Sites: int(r.GetSites()), Jobs: int(r.GetJobs()), Held: int(r.GetHeld()), Kept: int(r.GetKept()), Moves: int(r.GetMoves()),
		Failed: int(r.GetFailed()), Later: int(r.GetLater()), Questions: int(r.GetQuestions()), Estimates: r.GetEstimates(),
		Gain: r.GetGain().AsDuration(), Thinking: r.GetThinking().AsDuration(), Asking: r.GetAsking().AsDuration(), Took: r.GetTook().AsDuration(),
	}}
	for _, j := range res.GetJobs() {
		out.Jobs = append(out.Jobs, ReallocatedJob{
			ID: j.GetJobId(), Service: j.GetService(), From: j.GetFrom(), To: j.GetTo(),
			Before: shapeIn(j.GetBefore()), After: shapeIn(j.GetAfter()),
			ECTBefore: j.GetEctBefore().AsDuration(), ECTAfter: j.GetEctAfter().AsDuration(), Gain: j.GetGain().AsDuration(),
			Ordered: j.GetOrdered(), Problem: errorOf(j.GetProblem()),
		})
	}
	missing := make(map[string]Missing)
	addMissing(missing, res.GetMissing())
	out.Missing = inOrder(missing)
	return out, nil
}
