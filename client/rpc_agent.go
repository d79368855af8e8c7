package client

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

// ranking is an agent's answer to where a request should go.
type ranking struct {
	targets []submission.Target
	record  *droverv1.DecisionRecord // as it came, to go with the submission
}

func (f *face) rank(ctx context.Context, agent, id string, r *request, within time.Duration) (ranking, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).Map(ctx, &droverv1.MapRequest{
		Request: requestOut(r), JobId: id, Deadline: durationpb.New(within),
		Negotiate: r.site != "", // what the one site says is to be told, not that nobody would take it
	})
	if err != nil {
		return ranking{}, call.failed(err)
	}
	m := ranking{record: res.GetDecision()}
	for _, t := range res.GetTargets() {
		m.targets = append(m.targets, submission.Target{Site: t.GetSite(), Address: t.GetAddress()})
	}
	return m, nil
}

// find returns where a job is, and the job as the agent has heard of it.
func (f *face) find(ctx context.Context, agent, id string) (place, *Job, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).FindJob(ctx, &droverv1.FindJobRequest{JobId: id})
	if err != nil {
		return place{}, nil, call.failed(err)
	}
	job := jobIn(res.GetJob())
	job.sent = sentIn(res.GetJob())
	return place{
		target: submission.Target{Site: res.GetTarget().GetSite(), Address: res.GetTarget().GetAddress()},
		epoch:  job.Epoch,
	}, job, nil
}

// jobs returns one page, and adds the sites that did not answer to missing.
func (f *face) jobs(ctx context.Context, agent, filter, token string, missing map[string]Missing) ([]*Job, string, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).ListJobs(ctx, &droverv1.AgentServiceListJobsRequest{Filter: filter, PageToken: token})
	if err != nil {
		return nil, "", call.failed(err)
	}
	var jobs []*Job
	for _, j := range res.GetJobs() {
		jobs = append(jobs, jobIn(j))
	}
	addMissing(missing, res.GetMissing())
	return jobs, res.GetNextPageToken(), nil
}

func (f *face) sites(ctx context.Context, agent, token string, accuracy bool) ([]Site, string, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).ListSites(ctx, &droverv1.ListSitesRequest{PageToken: token, Accuracy: accuracy})
	if err != nil {
		return nil, "", call.failed(err)
	}
	var sites []Site
	for _, s := range res.GetSites() {
		sites = append(sites, siteIn(s))
	}
	return sites, res.GetNextPageToken(), nil
}

func (f *face) services(ctx context.Context, agent, filter, token string) ([]Service, string, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).ListServices(ctx, &droverv1.ListServicesRequest{Filter: filter, PageToken: token})
	if err != nil {
		return nil, "", call.failed(err)
	}
	var services []Service
	for _, o := range res.GetServices() {
		services = append(services, serviceIn(o))
	}
	return services, res.GetNextPageToken(), nil
}
