package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// inquiry is a request as far as the choice of its site goes.
type inquiry struct {
	request rpc.Request
	service string
	input   int64  // bytes
	from    string // where the input lies
	without string // a site that is not asked: the job is there
	only    string // the only site that is asked; "" for all
	data    *located
	// calibrate corrects answers by the records of their sites.
	calibrate bool
	// negotiate returns a decision also if no site takes the request.
	negotiate bool
}

// choice is a decision and what it was made from.
type choice struct {
	decision mapping.Decision
	madeAt   time.Time
	sites    []*mapping.Site          // by index of the answers
	results  []result[mapping.Answer] // by index of the answers
	silent   []rpc.Absent             // sites that could have data of the request, and did not answer
}

// Map finds the site that would complete a request first. patience bounds the time
// that the agent takes; 0 stands for the configured one. jobID is for the log.
func (a *Agent) Map(
	ctx context.Context, jobID string, r rpc.Request, patience time.Duration, negotiate bool,
) (*rpc.Decision, error) {
	patience = a.patienceFor(ctx, patience)
	began := time.Now()
	data, err := a.locateInput(ctx, patience/2, r)
	if err != nil {
		return nil, err
	}
	if data != nil {
		r, patience = r.WithData(data.facts), max(patience-time.Since(began), patience/2)
	}
	c, err := a.choose(ctx, patience, inquiry{
		request: r, service: r.Service(), only: r.OnlySite(), input: r.InputBytes(false), data: data,
		from: r.InputSite(), negotiate: negotiate,
		calibrate: a.cfg.Mapping.Calibrate && !r.HasAgreement(), // an agreement is about the estimate itself
	})
	if err != nil {
		return nil, err
	}
	d := c.record()
	a.log.Debug("request mapped", "job", jobID, "service", r.Service(), "site", d.Chosen)
	return d, nil
}

// choose asks every site that offers the service and ranks the answers. The error is
// a *problem.Problem if no site could be chosen.
func (a *Agent) choose(ctx context.Context, patience time.Duration, q inquiry) (*choice, error) {
	c := &choice{}
	peers, err := a.candidates(c, &q)
	if err != nil {
		return nil, err
	}
	c.results = ask(ctx, patience, c.sites, peers, func(
		ctx context.Context, s *mapping.Site, p *rpc.Peer,
	) (mapping.Answer, error) {
		if s.Load.Draining { // its own estimate would be this refusal
			return mapping.Answer{}, rpc.Refused(drainingSite(s.Name))
		}
		travel, stuck := a.travel(&q, s.Name)
		if stuck != nil {
			return mapping.Answer{}, rpc.Refused(stuck)
		}
		answer, err := p.Estimate(ctx, q.request, travel)
		answer.At = a.now()
		return answer, err
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers := make([]mapping.Answer, len(c.results))
	for i := range c.results {
		r := &c.results[i]
		answers[i] = r.value
		if !q.calibrate {
			answers[i].Record = nil
		}
		answers[i].Site = c.sites[i].Name
		answers[i].Missing = r.missing
		answers[i].Transfer, _ = a.travel(&q, c.sites[i].Name)
	}
	if q.data != nil {
		c.silent = q.data.silent
	}
	c.madeAt = time.Now()
	mapping.Choose(a.now(), answers, &c.decision)
	for _, d := range c.decision.Candidates[c.decision.Ranked:] {
		if r := &c.results[d.Answer]; r.problem == nil { // its own estimate ruled it out
			r.missing = d.Missing
			r.problem = &problem.Problem{Reason: problem.OutOfRange, Message: "the request would never start there"}
		}
	}
	if c.decision.Ranked > 0 || q.negotiate {
		return c, nil
	}
	silent := a.silentCandidates(&q)
	if p := noOffer(c.sites, c.results, silent); p != nil {
		return nil, p
	}
	sites, results := withoutElsewhere(c.sites, c.results)
	return nil, noEstimate(q.service, sites, results, silent)
}

// candidates fills in the sites that offer a service and can be asked, and returns
// their peers.
func (a *Agent) candidates(c *choice, q *inquiry) ([]*rpc.Peer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.view.Candidates(nil, q.service)
	c.sites = slices.DeleteFunc(slices.Clone(all), func(s *mapping.Site) bool { return !q.allows(s.Name) })
	switch {
	case len(c.sites) > 0:
		return a.peersOf(c.sites), nil
	case q.only != "":
		return nil, a.notThere(q)
	case len(all) > 0:
		return nil, noOtherSite(q.without, q.service)
	}
	ready := slices.ContainsFunc(a.view.Sites(nil), func(s *mapping.Site) bool { return !s.Lost })
	lost := a.lostOffering(q.service)
	switch {
	case len(lost) > 0:
		return nil, lostService(q.service, lost)
	case !ready:
		return nil, noSites(a.joined)
	}
	return nil, &problem.Problem{
		Reason: problem.UnknownService, Field: "request.service",
		Accepted: "one of " + strings.Join(a.serviceNames(), ", "),
		Message:  "no site offers " + quoted(q.service), Hint: "drover services lists the services",
	}
}

// allows reports whether a site can be asked.
func (q *inquiry) allows(site string) bool {
	return site != q.without && (q.only == "" || site == q.only)
}

// silentCandidates returns the names of the sites that could be asked and offer the
// service, but do not answer.
func (a *Agent) silentCandidates(q *inquiry) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(a.lostOffering(q.service), func(name string) bool { return !q.allows(name) })
}

// lostOffering returns the names of the lost sites that offer the service. a.mu is
// held.
func (a *Agent) lostOffering(service string) []string {
	var names []string
	for _, s := range a.view.Sites(nil) {
		if s.Lost && s.Offers(service) {
			names = append(names, s.Name)
		}
	}
	return names
}

// notThere returns why the only site that may run a request cannot be asked. a.mu is
// held.
func (a *Agent) notThere(q *inquiry) *problem.Problem {
	sites := a.view.Sites(nil)
	i := slices.IndexFunc(sites, func(s *mapping.Site) bool { return s.Name == q.only })
	switch {
	case i < 0 && len(sites) == 0:
		return noSites(a.joined)
	case i < 0:
		return unknownSite("request.site", q.only, sites)
	case sites[i].Lost:
		return &problem.Problem{
			Reason: problem.NoCandidate, Field: "request.site", Retryable: true,
			Message: "site " + q.only + ", the only one that may run the request, does not answer",
			Hint:    "wait until it is back, or allow any site",
		}
	}
	return &problem.Problem{
		Reason: problem.UnknownService, Field: "request.service",
		Accepted: "one of " + strings.Join(sites[i].Services, ", "),
		Message:  "site " + q.only + " does not offer " + quoted(q.service),
		Hint:     "drover services shows which site offers what",
	}
}

// travel returns how long the input of a request needs to reach a site, or why the
// data that it uses cannot go there.
func (a *Agent) travel(q *inquiry, site string) (batch.Duration, *problem.Problem) {
	var data []mapping.Stored
	if q.data != nil {
		data = q.data.stored
	}
	d, stuck := a.links.Gather(q.from, site, q.input, data)
	if stuck == nil {
		return d, nil
	}
	return d, &problem.Problem{
		Reason:  problem.StickyData,
		Message: "data " + stuck.ID + " are sticky: they stay at site " + strings.Join(stuck.Sites, ", "),
		Hint:    "put them as persistent data, or where the service is offered",
	}
}

// targets returns where to submit, best first.
func (c *choice) targets() []rpc.Target {
	var out []rpc.Target
	for _, d := range c.decision.Candidates[:c.decision.Ranked] {
		out = append(out, rpc.Target{Site: d.Site, Address: c.sites[d.Answer].Address})
	}
	return out
}

// record returns the choice as it is sent and recorded.
func (c *choice) record() *rpc.Decision {
	d := &rpc.Decision{MadeAt: c.madeAt, Targets: c.targets()}
	if best, ok := c.decision.Chosen(); ok {
		d.Chosen = best.Site
	}
	for _, m := range c.decision.Candidates {
		d.Candidates = append(d.Candidates, rpc.Candidate{Candidate: m, Problem: c.results[m.Answer].problem})
	}
	// Sites that were only asked for data are among the missing ones, by name.
	for _, s := range c.silent {
		if !slices.ContainsFunc(d.Candidates, func(m rpc.Candidate) bool { return m.Site == s.Site }) {
			p := *s.Problem
			p.Message = "as a source of data: " + p.Message
			d.Candidates = append(d.Candidates, rpc.Candidate{
				Candidate: mapping.Candidate{Site: s.Site, Missing: s.Missing}, Problem: &p,
			})
		}
	}
	slices.SortStableFunc(d.Candidates[c.decision.Ranked:], func(a, b rpc.Candidate) int {
		return strings.Compare(a.Site, b.Site)
	})
	return d
}
