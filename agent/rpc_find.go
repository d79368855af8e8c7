package agent

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// FindJob says where a job is.
func (f face) FindJob(ctx context.Context, req *droverv1.FindJobRequest) (*droverv1.FindJobResponse, error) {
	at, err := f.a.locate(ctx, req.GetJobId())
	if err != nil {
		return nil, err
	}
	return &droverv1.FindJobResponse{
		Target: &droverv1.Target{Site: at.site.Name, Address: at.site.Address}, Job: at.job,
	}, nil
}

// located is where a job is, or was when its site was last heard of.
type located struct {
	site *mapping.Site
	peer *peer // nil if the site is not known
	job  *droverv1.Job
}

// locate asks all servers for a job. Who does not answer is represented by what
// the agent remembers of it.
func (a *Agent) locate(ctx context.Context, id string) (*located, error) {
	if id == "" {
		return nil, &problem.Problem{Reason: problem.BadValue, Field: "job_id", Message: "empty", Accepted: "the ID of a job"}
	}
	sites, peers := a.known()
	results := ask(ctx, a.patienceFor(ctx, 0), sites, peers, func(ctx context.Context, _ *mapping.Site, p *peer) result[*droverv1.Job] {
		res, err := p.client.GetJob(ctx, &droverv1.GetJobRequest{JobId: id})
		if err != nil {
			return failed[*droverv1.Job](ctx, err)
		}
		return result[*droverv1.Job]{value: res.GetJob()}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var (
		claims  []mapping.Claim
		from    []int // of each claim, the index of its site
		silent  []string
		refused *problem.Problem
	)
	a.mu.Lock()
	now := a.now()
	answered := make(map[string]bool)
	for i, r := range results {
		s := sites[i].Name
		switch {
		case r.missing == mapping.Answered:
			answered[s] = true
			claims = append(claims, mapping.Claim{
				Site: s, State: statesIn[r.value.GetState()], Epoch: r.value.GetEpoch(), To: r.value.GetMovedTo(),
			})
			from = append(from, i)
		case knowsNothing(r.problem):
			answered[s] = true
		case r.missing == mapping.Refused && r.problem.Reason != problem.Internal: // the ID is wrong, not the site
			refused = r.problem
		default:
			silent = append(silent, s)
			d, ok := a.jobs.Get(s, id)
			if !ok {
				continue
			}
			results[i].value = rememberedJob(s, &d, max(now.Sub(sites[i].Heard), 0))
			claims = append(claims, mapping.Claim{Site: s, State: d.State, Epoch: d.Epoch, To: d.To, Silent: true})
			from = append(from, i)
		}
	}
	a.mu.Unlock()
	best, site := mapping.Locate(claims, func(site string) bool { return !answered[site] })
	switch {
	case best >= 0 && site == claims[best].Site:
		i := from[best]
		return &located{site: sites[i], peer: peers[i], job: results[i].value}, nil
	case best >= 0:
		return a.inferred(site, claims[best].Site, results[from[best]].value, now), nil
	case refused != nil:
		return nil, refused
	case len(sites) == 0:
		return nil, noSites(0)
	case len(silent) > 0:
		return nil, &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("nobody who answers has job %q; no answer from %s", id, strings.Join(silent, ", ")),
			Hint:    "the job may be at a site that is silent; try again",
		}
	}
	if left := a.lately(); len(left) > 0 {
		return nil, &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("nobody who answers has job %q; sites that were stopped may: %s", id, strings.Join(left, ", ")),
			Hint:    "try again when they are back",
		}
	}
	return nil, &problem.Problem{
		Reason: problem.UnknownJob, Field: "job_id", Message: fmt.Sprintf("no site has job %q", id),
		Hint: "drover queue lists the jobs that there are",
	}
}

// knowsNothing says whether a server answered that it never had the job.
func knowsNothing(p *problem.Problem) bool { return p.Reason == problem.UnknownJob }

// inferred is the whereabouts of a job of which only the site that it has left
// can speak: the one that it went to is silent. Coming is the least that is
// certain of it there.
func (a *Agent) inferred(site, from string, gone *droverv1.Job, now batch.Time) *located {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := &located{site: a.view.Get(site), peer: a.peers[site]}
	if at.site == nil {
		at.site = &mapping.Site{Name: site} // never heard of since this agent began
	}
	at.job = proto.CloneOf(gone)
	at.job.State = droverv1.JobState_JOB_STATE_INCOMING
	at.job.Site, at.job.Peer, at.job.MovedTo = site, from, ""
	at.job.UnknownFor = durationOut(max(now.Sub(at.site.Heard), 0))
	return at
}
