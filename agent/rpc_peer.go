package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/drover/v1/droverv1connect"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// peer is a server as the agent talks to it.
type peer struct {
	client droverv1connect.ServerServiceClient
	about  *droverv1.DescribeResponse // not changed once describe has returned
}

func newPeer(caller *rpc.Caller, url string) *peer {
	return &peer{
		client: rpc.Client(caller, droverv1connect.NewServerServiceClient, url),
	}
}

// describe asks the server what it is and returns its site's name.
func (p *peer) describe(ctx context.Context) (string, error) {
	about, err := p.client.Describe(ctx, &droverv1.DescribeRequest{})
	if err != nil {
		return "", fmt.Errorf("describe: %w", err)
	}
	about.Services = slices.DeleteFunc(about.GetServices(), func(s *droverv1.Service) bool { return s.GetName() == "" })
	slices.SortFunc(about.Services, func(a, b *droverv1.Service) int { return strings.Compare(a.GetName(), b.GetName()) })
	p.about = about
	return about.GetSite().GetName(), nil
}

// status asks the server for its queue.
func (p *peer) status(ctx context.Context) (mapping.Load, error) {
	res, err := p.client.GetStatus(ctx, &droverv1.GetStatusRequest{})
	if err != nil {
		return mapping.Load{}, fmt.Errorf("status: %w", err)
	}
	return loadIn(res.GetStatus()), nil
}

// services returns the names of what the server offers.
func (p *peer) services() []string {
	names := make([]string, len(p.about.GetServices()))
	for i, s := range p.about.GetServices() {
		names[i] = s.GetName()
	}
	return names
}

// estimate asks the server when a request would be finished.
func (p *peer) estimate(ctx context.Context, req *droverv1.Request, notBefore batch.Duration) result[mapping.Answer] {
	res, err := p.client.Estimate(ctx, &droverv1.EstimateRequest{Request: req, NotBefore: durationOut(notBefore)})
	if err != nil {
		return failed[mapping.Answer](ctx, err)
	}
	q := res.GetQuote()
	if q.GetRefusal() != nil {
		return result[mapping.Answer]{missing: mapping.Refused, problem: (*problem.Problem)(rpc.ProblemOf(q.GetRefusal()))}
	}
	answer := mapping.Answer{
		Wait: durationIn(q.GetWait()), Run: durationIn(q.GetRun()), Walltime: durationIn(q.GetWalltime()),
		Age: durationIn(q.GetStateAge()), Width: q.GetWidth(), Kind: kindsIn[q.GetKind()], P: q.GetProbability(),
	}
	if q.GetWait() == nil || q.GetRun() == nil || answer.Width < 1 ||
		min(answer.Wait, answer.Run, answer.Walltime, answer.Age) < 0 {
		return result[mapping.Answer]{missing: mapping.Unreachable, problem: &problem.Problem{
			Reason: problem.Internal, Message: "the server's estimate makes no sense",
		}}
	}
	answer.Record = recordIn(res.GetAccuracy())
	return result[mapping.Answer]{value: answer}
}
