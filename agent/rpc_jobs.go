package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/rpcface"
)

// FindJob asks all servers which one has a job.
func (f face) FindJob(ctx context.Context, req *droverv1.FindJobRequest) (*droverv1.FindJobResponse, error) {
	id := req.GetJobId()
	if id == "" {
		return nil, &problem{Reason: rpcface.BadValue, Field: "job_id", Message: "empty", Accepted: "the ID of a job"}
	}
	a := f.a
	sites, peers := a.known()
	results := ask(ctx, a.patienceFor(ctx, 0), sites, peers, func(ctx context.Context, _ *mapping.Site, p *peer) result[*droverv1.Job] {
		res, err := p.client.GetJob(ctx, &droverv1.GetJobRequest{JobId: id})
		if err != nil {
			return failed[*droverv1.Job](ctx, err)
		}
		return result[*droverv1.Job]{value: res.GetJob()}
	})
	best := -1
	var (
		silent  []string
		refused *problem
	)
	for i, r := range results {
		switch {
		case r.missing == mapping.Answered:
			if best < 0 || claim(r.value) > claim(results[best].value) {
				best = i
			}
		case r.problem.Reason == rpcface.UnknownJob:
		case r.missing == mapping.Refused && r.problem.Reason != rpcface.Internal: // the ID is wrong, not the site
			refused = r.problem
		default:
			silent = append(silent, sites[i].Name)
		}
	}
	switch {
	case best >= 0:
		return &droverv1.FindJobResponse{
			Target: &droverv1.Target{Site: sites[best].Name, Address: sites[best].Address}, Job: results[best].value,
		}, nil
	case refused != nil:
		return nil, refused
	case len(sites) == 0:
		return nil, noSites(0)
	case len(silent) > 0:
		return nil, &problem{
			Reason: rpcface.Unreachable, Retryable: true,
			Message: fmt.Sprintf("nobody who answers has job %q; no answer from %s", id, strings.Join(silent, ", ")),
			Hint:    "the job may be at a site that is silent; try again",
		}
	}
	return nil, &problem{
		Reason: rpcface.UnknownJob, Field: "job_id", Message: fmt.Sprintf("no site has job %q", id),
		Hint: "drover queue lists the jobs that there are",
	}
}

// claim orders what servers say about one job: a higher epoch is later, and
// under one epoch a job is not where it has gone from.
func claim(j *droverv1.Job) uint64 {
	c := uint64(j.GetEpoch()) * 2
	if j.GetState() != droverv1.JobState_JOB_STATE_GONE {
		c++
	}
	return c
}

// ListJobs lists the jobs of all sites, site by site.
func (f face) ListJobs(ctx context.Context, req *droverv1.AgentServiceListJobsRequest) (*droverv1.AgentServiceListJobsResponse, error) {
	n, err := pageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	at, err := parseToken(req.GetPageToken())
	if err != nil {
		return nil, err
	}
	want, err := parseFilter(req.GetFilter(), "site", "state", "service", "owner")
	if err != nil {
		return nil, err
	}
	sites, peers := f.a.known()
	// What is asked beyond the end of the page is not waited for.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		asked   []*mapping.Site
		answers []<-chan result[*droverv1.ServerServiceListJobsResponse]
	)
	for i, s := range sites {
		if s.Name < at.From || !want.allows("site", s.Name) {
			continue
		}
		question := &droverv1.ServerServiceListJobsRequest{PageSize: int32(n), Filter: want.forServers()}
		if s.Name == at.From {
			question.PageToken = at.Inner
		}
		asked = append(asked, s)
		answers = append(answers, f.a.jobsAt(ctx, s, peers[i], question))
	}
	out := &droverv1.AgentServiceListJobsResponse{}
	for i, s := range asked {
		if len(out.Jobs) >= n {
			out.NextPageToken = position{From: s.Name}.token()
			return out, nil
		}
		r := <-answers[i]
		switch r.missing {
		case mapping.Answered:
		case mapping.Refused: // the question is wrong, not the site
			return nil, r.problem
		default:
			out.Missing = append(out.Missing, &droverv1.Candidate{Site: s.Name, Missing: missingMessage(r.missing, r.problem)})
			continue
		}
		if len(out.Jobs)+len(r.value.GetJobs()) > n { // a page may be short; a token inside of a site is its server's to make
			out.NextPageToken = position{From: s.Name}.token()
			return out, nil
		}
		out.Jobs = append(out.Jobs, r.value.GetJobs()...)
		if t := r.value.GetNextPageToken(); t != "" {
			out.NextPageToken = position{From: s.Name, Inner: t}.token()
			return out, nil
		}
	}
	return out, nil
}

// jobsAt begins to ask one site for its jobs, and returns where the result will
// be: all sites are asked at once, so that those that hang cost one patience
// together.
func (a *Agent) jobsAt(ctx context.Context, s *mapping.Site, p *peer, question *droverv1.ServerServiceListJobsRequest,
) <-chan result[*droverv1.ServerServiceListJobsResponse] {
	answer := make(chan result[*droverv1.ServerServiceListJobsResponse], 1)
	go func() {
		answer <- ask(ctx, a.patienceFor(ctx, 0), []*mapping.Site{s}, []*peer{p},
			func(ctx context.Context, _ *mapping.Site, p *peer) result[*droverv1.ServerServiceListJobsResponse] {
				res, err := p.client.ListJobs(ctx, question)
				if err != nil {
					return failed[*droverv1.ServerServiceListJobsResponse](ctx, err)
				}
				return result[*droverv1.ServerServiceListJobsResponse]{value: res}
			})[0]
	}()
	return answer
}

// forServers returns the filter without what only the agent knows, its keys in
// a fixed order.
func (f filter) forServers() string {
	var terms []string
	for _, key := range []string{"state", "service", "owner"} {
		if v, ok := f[key]; ok {
			terms = append(terms, key+"="+v)
		}
	}
	return strings.Join(terms, " ")
}
