package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// whereabouts is where a job is, or was when its site last answered.
type whereabouts struct {
	site *mapping.Site
	peer *rpc.Peer // nil if the site is not known
	job  rpc.Job
}

// FindJob returns where a job is.
func (a *Agent) FindJob(ctx context.Context, id string) (rpc.Target, rpc.Job, error) {
	at, err := a.locate(ctx, id)
	if err != nil {
		return rpc.Target{}, rpc.Job{}, err
	}
	return rpc.Target{Site: at.site.Name, Address: at.site.Address}, at.job, nil
}

// locate asks all servers for a job. What the agent remembers stands for servers that
// do not answer.
func (a *Agent) locate(ctx context.Context, id string) (*whereabouts, error) {
	if id == "" {
		return nil, &problem.Problem{
			Reason: problem.BadValue, Field: "job_id", Message: "empty", Accepted: "the ID of a job",
		}
	}
	sites, peers := a.known()
	results := ask(ctx, a.patienceFor(ctx, 0), sites, peers, func(
		ctx context.Context, _ *mapping.Site, p *rpc.Peer,
	) (rpc.Job, error) {
		return p.Job(ctx, id)
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var (
		claims  []mapping.Claim
		from    []int // by claim: the index of its site
		silent  []string
		refused *problem.Problem
	)
	a.mu.Lock()
	now := a.now()
	answered := make(map[string]bool)
	for i := range results {
		r, s := &results[i], sites[i].Name
		switch {
		case r.answered():
			answered[s] = true
			claims = append(claims, mapping.Claim{
				Site: s, State: r.value.State(), Epoch: r.value.Epoch(), To: r.value.MovedTo(),
			})
			from = append(from, i)
		case r.problem.Reason == problem.UnknownJob:
			answered[s] = true
		case r.refused() && r.problem.Reason != problem.Internal: // the ID is wrong, not the site
			refused = r.problem
		default:
			silent = append(silent, s)
			d, ok := a.jobs.Get(s, id)
			if !ok {
				continue
			}
			unknownFor := max(now.Sub(sites[i].Heard), 0)
			r.value = rpc.RememberedJob(s, &d, &unknownFor)
			claims = append(claims, mapping.Claim{Site: s, State: d.State, Epoch: d.Epoch, To: d.To, Silent: true})
			from = append(from, i)
		}
	}
	a.mu.Unlock()
	best, site := mapping.Locate(claims, func(site string) bool { return !answered[site] })
	switch {
	case best >= 0 && site == claims[best].Site:
		i := from[best]
		return &whereabouts{site: sites[i], peer: peers[i], job: results[i].value}, nil
	case best >= 0:
		return a.inferred(site, claims[best].Site, results[from[best]].value, now), nil
	case refused != nil:
		return nil, refused
	case len(sites) == 0:
		return nil, noSites(0)
	}
	return nil, a.jobNowhere(id, silent)
}

// inferred returns where a job is that has gone to a silent site, from what the site
// says that it left. At least it is on its way.
func (a *Agent) inferred(site, from string, gone rpc.Job, now batch.Time) *whereabouts {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := &whereabouts{site: a.view.Get(site), peer: a.peers[site]}
	if at.site == nil {
		at.site = &mapping.Site{Name: site} // has not answered since this agent began
	}
	at.job = gone.Incoming(from, site, max(now.Sub(at.site.Heard), 0))
	return at
}

// jobNowhere is the problem of a job that no site has that answers.
func (a *Agent) jobNowhere(id string, silent []string) *problem.Problem {
	if len(silent) > 0 {
		return &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("job %q may be at %s, which does not answer; no other site has it", id,
				strings.Join(silent, " or ")),
			Hint: "try again when it is back; drover forget SITE drops a site that never comes back",
		}
	}
	if left := a.group.Departed(leftFor); len(left) > 0 {
		return &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("no site that answers has job %q; sites that were stopped may have it: %s",
				id, strings.Join(left, ", ")),
			Hint: "try again when they are back; drover forget SITE drops a site that never comes back",
		}
	}
	return &problem.Problem{
		Reason: problem.UnknownJob, Field: "job_id", Message: fmt.Sprintf("no site has job %q", id),
		Hint: "drover queue lists the jobs",
	}
}

// jobList is one site's page of jobs.
type jobList struct {
	jobs []rpc.Job
	next string
}

// ListJobs lists the jobs of all sites, site by site.
func (a *Agent) ListJobs(
	ctx context.Context, text string, size int, from rpc.JobsPosition, view rpc.View,
) (*rpc.JobsPage, error) {
	want, err := parseFilter(text, "site", "state", "service", "owner", "id")
	if err != nil {
		return nil, err
	}
	sites, peers := a.known()
	ctx, cancel := context.WithCancel(ctx) // ends calls with answers beyond the page
	defer cancel()
	var (
		asked   []*mapping.Site
		answers []<-chan result[jobList]
	)
	for i, s := range sites {
		if s.Name < from.Site || !want.allows("site", s.Name) {
			continue
		}
		token := ""
		if s.Name == from.Site {
			token = from.Inner
		}
		asked = append(asked, s)
		filter := want.text("state", "service", "owner", "id")
		answers = append(answers, a.listJobsAt(ctx, s, peers[i], filter, size, token, view))
	}
	out := &rpc.JobsPage{}
	bytes := 0
	for i, s := range asked {
		start := rpc.JobsPosition{Site: s.Name}
		if s.Name == from.Site {
			start = from
		}
		room := size - len(out.Jobs)
		// Jobs can be large. With one more page of a server the message is still one that
		// clients accept.
		if room <= 0 || bytes >= rpc.LargestMessage {
			out.Next = &start
			return out, nil
		}
		r := <-answers[i]
		if r.refused() { // the question is wrong, not the site
			return nil, r.problem
		}
		if !r.answered() {
			out.Missing = append(out.Missing, r.absent(s.Name))
		}
		jobs := r.value.jobs
		var next *rpc.JobsPosition
		switch inner := r.value.next; {
		case start.Remembered != nil, !r.answered() && start.Inner == "":
			jobs, next = a.remembered(s, want, start, room, !r.answered())
		case !r.answered(): // only its server can continue the list
		case len(jobs) > room: // the page stays short: only a site's server can make a token inside of its list
			jobs, next = nil, &start
		case inner != "":
			next = &rpc.JobsPosition{Site: s.Name, Inner: inner}
		}
		for _, j := range jobs {
			bytes += j.Bytes()
		}
		out.Jobs = append(out.Jobs, jobs...)
		if next != nil {
			out.Next = next
			return out, nil
		}
	}
	return out, nil
}

// listJobsAt starts to ask one site for its jobs, and returns where the result will
// be. All sites are asked at once, so that silent ones cost one patience together.
func (a *Agent) listJobsAt(
	ctx context.Context, s *mapping.Site, p *rpc.Peer, filter string, size int, token string, view rpc.View,
) <-chan result[jobList] {
	answer := make(chan result[jobList], 1)
	go func() {
		answer <- askFor(ctx, a.patienceFor(ctx, 0), s, p, func(ctx context.Context) (l jobList, err error) {
			l.jobs, l.next, err = p.ListJobs(ctx, filter, size, token, view)
			return l, err
		})
	}()
	return answer
}

// remembered lists at most n of the jobs that a site had when it last answered. A list
// from memory continues from memory even if the site answers again: its server cannot
// know where to continue.
func (a *Agent) remembered(
	s *mapping.Site, want filter, start rpc.JobsPosition, n int, silent bool,
) (out []rpc.Job, next *rpc.JobsPosition) {
	var after mapping.Cursor
	if start.Remembered != nil {
		after = *start.Remembered
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var unknownFor *batch.Duration
	if silent {
		d := a.now().Sub(s.Heard)
		unknownFor = &d
	}
	a.jobs.After(s.Name, after, func(d *mapping.Digest) bool {
		switch state, asked := want["state"]; {
		case asked && state != "active" && state != d.State.String(),
			!want.allows("service", d.Service), !want.allows("owner", d.Owner), !strings.HasPrefix(d.ID, want["id"]):
			return true
		}
		if len(out) == n {
			next = &rpc.JobsPosition{Site: s.Name, Remembered: &after}
			return false
		}
		out = append(out, rpc.RememberedJob(s.Name, d, unknownFor))
		after = mapping.Cursor{Submitted: d.Submitted, ID: d.ID}
		return true
	})
	return out, next
}
