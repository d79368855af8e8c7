package agent

import (
	"context"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// ListJobs lists the jobs of all sites, site by site.
func (f face) ListJobs(ctx context.Context, req *droverv1.AgentServiceListJobsRequest) (*droverv1.AgentServiceListJobsResponse, error) {
	n, err := rpc.PageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	var at jobsPosition
	if err := rpc.ParseToken(req.GetPageToken(), &at); err != nil {
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
		start := jobsPosition{From: s.Name}
		if s.Name == at.From {
			start = at
		}
		room := n - len(out.Jobs)
		// Jobs may be large: with one more page of a server the message is still one
		// that clients take.
		if room <= 0 || proto.Size(out) >= rpc.LargestMessage {
			out.NextPageToken = rpc.Token(start)
			return out, nil
		}
		r := <-answers[i]
		if r.missing == mapping.Refused { // the question is wrong, not the site
			return nil, r.problem
		}
		if r.missing != mapping.Answered {
			out.Missing = append(out.Missing, &droverv1.Candidate{Site: s.Name, Missing: missingMessage(r.missing, r.problem)})
		}
		jobs, next := r.value.GetJobs(), jobsPosition{}
		switch inner := r.value.GetNextPageToken(); {
		case start.Remembered != nil, r.missing != mapping.Answered && start.Inner == "":
			jobs, next = f.a.remembered(s, want, start, room, r.missing != mapping.Answered)
		case r.missing != mapping.Answered: // where it goes on is known to its server alone
		case len(jobs) > room: // a page may be short; a token inside of a site is its server's to make
			jobs, next = nil, start
		case inner != "":
			next = jobsPosition{From: s.Name, Inner: inner}
		}
		out.Jobs = append(out.Jobs, jobs...)
		if next.From != "" {
			out.NextPageToken = rpc.Token(next)
			return out, nil
		}
	}
	return out, nil
}

// jobsPosition is where the next page of jobs begins.
type jobsPosition struct {
	From  string `json:"f"`           // the site
	Inner string `json:"i,omitempty"` // the token of that site's own server
	// Remembered is set, and Inner is not, when that site did not answer: the
	// last job that was listed from memory.
	Remembered *mapping.Cursor `json:"r,omitempty"`
}

// remembered lists at most n of the jobs that a site had when it was last heard
// of. What is listed from memory goes on from memory, though the site may answer
// again: its server cannot know where.
func (a *Agent) remembered(s *mapping.Site, want filter, start jobsPosition, n int, silent bool) ([]*droverv1.Job, jobsPosition) {
	var after mapping.Cursor
	if start.Remembered != nil {
		after = *start.Remembered
	}
	var out []*droverv1.Job
	var next jobsPosition
	a.mu.Lock()
	defer a.mu.Unlock()
	unknown := a.now().Sub(s.Heard)
	a.jobs.After(s.Name, after, func(d *mapping.Digest) bool {
		switch state, asked := want["state"]; {
		case asked && state != "active" && state != d.State.String(),
			!want.allows("service", d.Service), !want.allows("owner", d.Owner):
			return true
		}
		if len(out) == n {
			next = jobsPosition{From: s.Name, Remembered: &after}
			return false
		}
		j := rememberedJob(s.Name, d, unknown)
		if !silent {
			j.UnknownFor = nil
		}
		out = append(out, j)
		after = mapping.Cursor{Submitted: d.Submitted, ID: d.ID}
		return true
	})
	return out, next
}

// jobsAt begins to ask one site for its jobs, and returns where the result will
// be: all sites are asked at once, so that those that hang cost one patience
// together.
func (a *Agent) jobsAt(ctx context.Context, s *mapping.Site, p *peer, question *droverv1.ServerServiceListJobsRequest,
) <-chan result[*droverv1.ServerServiceListJobsResponse] {
	answer := make(chan result[*droverv1.ServerServiceListJobsResponse], 1)
	go func() {
		answer <- askOne(ctx, a, s, p, func(ctx context.Context, p *peer) (*droverv1.ServerServiceListJobsResponse, error) {
			return p.client.ListJobs(ctx, question)
		})
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
