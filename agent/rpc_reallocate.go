package agent

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// mostReported bounds the jobs of an answer: it has to fit into a message.
const mostReported = 10_000

// Reallocate runs a round of reallocation.
func (f face) Reallocate(ctx context.Context, req *droverv1.ReallocateRequest) (*droverv1.ReallocateResponse, error) {
	as, err := f.a.cfg.Reallocation.with(req)
	if err != nil {
		return nil, err
	}
	config, _, wrong := as.rounds()
	if len(wrong) > 0 {
		e := wrong[0]
		return nil, &problem.Problem{Reason: problem.BadValue, Field: e.Key, Message: strconv.Quote(e.Value), Accepted: e.Accepted}
	}
	f.a.mu.Lock()
	sites, joined := len(f.a.view.Sites(nil)), f.a.joined
	f.a.mu.Unlock()
	if sites == 0 {
		return nil, noSites(joined)
	}
	r, err := f.a.round(ctx, config, req.GetDryRun())
	if err != nil {
		return nil, err
	}
	if r.sites == 0 {
		return nil, r.nobody()
	}
	return r.out(f.a.cfg.Name), nil
}

// nobody is the problem of a round without sites.
func (r *roundReport) nobody() *problem.Problem {
	var all []string
	for _, m := range r.missing {
		all = append(all, fmt.Sprintf("%s: %v", m.site, m.problem))
	}
	return &problem.Problem{
		Reason: problem.Unreachable, Retryable: true, Message: "no site takes part in a round: " + strings.Join(all, "; "),
		Hint: "try again; drover sites shows who answers",
	}
}

// with returns the configuration with what a request says in its place.
func (r *Reallocation) with(req *droverv1.ReallocateRequest) (*Reallocation, error) {
	as := *r
	for _, f := range []struct {
		said string
		into *string
	}{{req.GetAlgorithm(), &as.Algorithm}, {req.GetHeuristic(), &as.Heuristic}, {req.GetWindow(), &as.Window}} {
		if f.said != "" {
			*f.into = f.said
		}
	}
	if d := req.GetThreshold(); d != nil {
		if d.CheckValid() != nil {
			return nil, &problem.Problem{Reason: problem.OutOfRange, Field: "threshold", Message: d.String(), Accepted: "a duration"}
		}
		as.Threshold = d.AsDuration()
	}
	if d := req.GetLeastGain(); d != nil {
		if d.CheckValid() != nil {
			return nil, &problem.Problem{Reason: problem.OutOfRange, Field: "least_gain", Message: d.String(), Accepted: "a duration"}
		}
		as.LeastGain = d.AsDuration()
	}
	if req.MostMoves != nil {
		as.MostMoves = int(req.GetMostMoves())
	}
	if req.MostMovesRound != nil {
		as.MostMovesRound = int(req.GetMostMovesRound())
	}
	if req.Patience != nil {
		as.Patience = strconv.Itoa(int(req.GetPatience()))
		if req.GetPatience() == -1 {
			as.Patience = off
		}
	}
	return &as, nil
}

// out returns a round for the wire.
func (r *roundReport) out(agent string) *droverv1.ReallocateResponse {
	c, n := &r.config, &r.record
	out := &droverv1.ReallocateResponse{Record: &droverv1.RoundRecord{
		Round: r.id, Agent: agent, BeganAt: timestamppb.New(r.began), DryRun: r.dryRun,
		Algorithm: c.Algorithm.String(), Heuristic: c.Heuristic.String(), Window: c.Window.String(),
		Sites: int32(r.sites), Jobs: int32(n.Jobs), Held: int32(n.Held), Kept: int32(n.Kept), Moves: int32(n.Moves),
		Failed: int32(n.Failed), Later: int32(n.Later), Questions: int32(n.Questions), Estimates: n.Estimates, Gain: durationOut(n.Gain),
		Thinking: durationpb.New(r.thinking), Asking: durationpb.New(r.asking), Took: durationpb.New(r.took),
	}}
	for i := range r.jobs {
		j := &r.jobs[i]
		if j.problem != nil {
			out.Record.Failed++
		}
		stays := j.To == j.From && j.Before == j.After && j.before == j.Shape
		if stays && j.problem == nil || len(out.Jobs) == mostReported {
			continue
		}
		out.Jobs = append(out.Jobs, &droverv1.ReallocatedJob{
			JobId: j.id, Service: j.service, From: j.from, To: j.to,
			Before:    &droverv1.Shape{Width: j.before.Width, Walltime: durationOut(j.before.Walltime)},
			After:     &droverv1.Shape{Width: j.Shape.Width, Walltime: durationOut(j.Shape.Walltime)},
			EctBefore: durationOut(j.Before), EctAfter: durationOut(j.After), Gain: durationOut(j.Gain()),
			Ordered: j.ordered, Problem: rpc.DetailOf(j.problem),
		})
	}
	for _, m := range r.missing {
		out.Missing = append(out.Missing, &droverv1.Candidate{Site: m.site, Missing: missingMessage(m.missing, m.problem)})
	}
	return out
}
