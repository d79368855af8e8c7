package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// inquiry is a request as far as the choice of its site goes.
type inquiry struct {
	service string
	input   int64  // bytes, but for data that stay at sites
	from    string // where the input lies
	without string // a site that is left out: the job is there
	only    string // the only site that is asked; "" for all
	stock   *stock // the data that stay at sites and are used; nil for none
	// calibrate has answers corrected by the records of their sites.
	calibrate bool
	// negotiate: that nobody would take it is no error.
	negotiate bool
	// estimate asks one site. The answer's durations count from its arrival.
	estimate func(ctx context.Context, p *peer, notBefore batch.Duration) result[mapping.Answer]
}

// choice is a decision and what is needed to tell it.
type choice struct {
	decision mapping.Decision
	madeAt   time.Time
	sites    []*mapping.Site          // by index of the answers
	results  []result[mapping.Answer] // likewise
	silent   []silence                // who may have data that are used, and did not say so
}

// choose asks every site that offers the service and ranks the answers. The
// error is a *problem.Problem when no site could be chosen.
func (a *Agent) choose(ctx context.Context, patience time.Duration, q inquiry) (*choice, error) {
	c := &choice{}
	peers, err := a.candidates(c, &q)
	if err != nil {
		return nil, err
	}
	c.results = ask(ctx, patience, c.sites, peers, func(ctx context.Context, s *mapping.Site, p *peer) result[mapping.Answer] {
		if s.Load.Draining { // so says its own estimate; there is no need to wait for it
			return result[mapping.Answer]{missing: mapping.Refused, problem: drainingSite(s.Name)}
		}
		travel, stuck := a.travel(&q, s.Name)
		if stuck != nil {
			return result[mapping.Answer]{missing: mapping.Refused, problem: stuck}
		}
		r := q.estimate(ctx, p, travel)
		r.value.At = a.now()
		return r
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
	if q.stock != nil {
		c.silent = q.stock.silent
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
	silent := a.silent(&q)
	if p := noOffer(c.sites, c.results, silent); p != nil {
		return nil, p
	}
	sites, results := elsewhere(c.sites, c.results)
	return nil, nobody(q.service, sites, results, silent)
}

// candidates fills in the sites that offer a service and may be asked, and returns
// their peers.
func (a *Agent) candidates(c *choice, q *inquiry) ([]*peer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	service, without := q.service, q.without
	all := a.view.Candidates(nil, service)
	c.sites = slices.DeleteFunc(slices.Clone(all), func(s *mapping.Site) bool { return !q.may(s) })
	switch {
	case len(c.sites) > 0:
		return a.peersOf(c.sites), nil
	case q.only != "":
		return nil, a.notThere(q)
	case len(all) > 0:
		return nil, &problem.Problem{
			Reason: problem.NoCandidate, Retryable: true,
			Message: fmt.Sprintf("no site but %s offers %s", without, service),
			Hint:    "drover services shows which site offers what",
		}
	}
	ready := slices.ContainsFunc(a.view.Sites(nil), func(s *mapping.Site) bool { return !s.Lost })
	lost := a.offeredInSilence(service)
	switch {
	case len(lost) > 0:
		return nil, &problem.Problem{
			Reason: problem.NoCandidate, Retryable: true,
			Message: fmt.Sprintf("service %s is offered only where the server has fallen silent: %s", service, strings.Join(lost, ", ")),
			Hint:    "wait until one of these sites is back",
		}
	case !ready:
		return nil, noSites(a.joined)
	}
	accepted := "one of " + strings.Join(a.serviceNames(), ", ")
	return nil, &problem.Problem{
		Reason: problem.UnknownService, Field: "request.service", Accepted: accepted,
		Message: fmt.Sprintf("no site offers %q", service), Hint: "drover services lists what there is",
	}
}

// may says whether a site may be asked.
func (q *inquiry) may(s *mapping.Site) bool {
	return s.Name != q.without && (q.only == "" || s.Name == q.only)
}

// silent returns the names of the sites that may be asked, offer the service and do
// not answer.
func (a *Agent) silent(q *inquiry) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(a.offeredInSilence(q.service), func(name string) bool {
		return !q.may(&mapping.Site{Name: name})
	})
}

// offeredInSilence is silent for callers that hold a.mu.
func (a *Agent) offeredInSilence(service string) []string {
	var names []string
	for _, s := range a.view.Sites(nil) {
		if s.Lost && s.Offers(service) {
			names = append(names, s.Name)
		}
	}
	return names
}
