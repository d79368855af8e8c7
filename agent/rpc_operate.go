package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// SetDraining passes on what a site shall do.
func (f face) SetDraining(ctx context.Context, req *droverv1.AgentServiceSetDrainingRequest) (*droverv1.AgentServiceSetDrainingResponse, error) {
	s, p, err := f.a.siteNamed(req.GetSite())
	if err != nil {
		return nil, err
	}
	r := askOne(ctx, f.a, s, p, func(ctx context.Context, p *peer) (*droverv1.SetDrainingResponse, error) {
		return p.client.SetDraining(ctx, &droverv1.SetDrainingRequest{Draining: req.GetDraining()})
	})
	if r.missing != mapping.Answered {
		return nil, r.problem
	}
	f.a.heard(s.Name, loadIn(r.value.GetStatus()))
	return &droverv1.AgentServiceSetDrainingResponse{Status: r.value.GetStatus()}, nil
}

// SettleJob passes on an operator's settlement.
func (f face) SettleJob(ctx context.Context, req *droverv1.AgentServiceSettleJobRequest) (*droverv1.AgentServiceSettleJobResponse, error) {
	s, p, err := f.a.siteNamed(req.GetSite())
	if err != nil {
		return nil, err
	}
	settle := req.GetSettle()
	if settle.GetJobId() == "" {
		return nil, &problem.Problem{Reason: problem.BadValue, Field: "settle.job_id", Message: "empty", Accepted: "the ID of a job"}
	}
	r := askOne(ctx, f.a, s, p, func(ctx context.Context, p *peer) (*droverv1.SettleJobResponse, error) {
		return p.client.SettleJob(ctx, settle)
	})
	if r.missing != mapping.Answered {
		return nil, r.problem
	}
	f.a.log.Warn("a move was settled by hand", "job", settle.GetJobId(), "epoch", settle.GetEpoch(),
		"site", s.Name, "settlement", settle.GetSettlement(), "reason", settle.GetReason())
	return &droverv1.AgentServiceSettleJobResponse{Job: r.value.GetJob()}, nil
}

// siteNamed returns the site of a name that a caller has given.
func (a *Agent) siteNamed(name string) (*mapping.Site, *peer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.view.Get(name); s != nil {
		return s, a.peers[name], nil
	}
	var names []string
	for _, s := range a.view.Sites(nil) {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return nil, nil, noSites(a.joined)
	}
	return nil, nil, &problem.Problem{
		Reason: problem.UnknownSite, Field: "site", Message: fmt.Sprintf("there is no site %q", name),
		Accepted: "one of " + strings.Join(names, ", "),
	}
}
