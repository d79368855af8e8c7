package agent

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func quoted(name string) string { return fmt.Sprintf("%.70q", name) }

// noSites is the answer of an agent that knows no site.
func noSites(joined int) *problem.Problem {
	p := &problem.Problem{
		Reason: problem.NoSite, Message: "no site has joined this agent", Retryable: true,
		Hint: "start a server with this agent among its gossip seeds, or wait until one is up",
	}
	if joined > 0 {
		p.Message = fmt.Sprintf("%d sites have joined this agent, but none is ready", joined)
		p.Hint = "try again in a moment; the agent's log says why a site is not ready"
	}
	return p
}

// unknownSite is the answer to a site name that a caller got wrong.
func unknownSite(field, name string, sites []*mapping.Site) *problem.Problem {
	var names []string
	for _, s := range sites {
		names = append(names, s.Name)
	}
	return &problem.Problem{
		Reason: problem.UnknownSite, Field: field, Message: "there is no site " + quoted(name),
		Accepted: "one of " + strings.Join(names, ", "), Hint: "drover sites lists the sites",
	}
}

// lostSite is the problem of a site that gossip has lost.
func lostSite(name string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.Unreachable, Message: "the server of site " + name + " does not answer", Retryable: true,
	}
}

// drainingSite is the problem of a site that takes no new jobs.
func drainingSite(name string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.Draining, Retryable: true, Message: "site " + name + " is draining: it takes no new jobs",
		Hint: "drover resume " + name + " lets it take jobs again",
	}
}

// lostService is the problem of a service that only lost sites offer.
func lostService(service string, lost []string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.NoCandidate, Retryable: true,
		Message: fmt.Sprintf("only sites that do not answer offer service %s: %s", service, strings.Join(lost, ", ")),
		Hint:    "wait until one of these sites is back",
	}
}

// noOtherSite is the problem of a job that no site but its own can run.
func noOtherSite(own, service string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.NoCandidate, Retryable: true,
		Message: fmt.Sprintf("no site but %s offers %s", own, service),
		Hint:    "drover services shows which site offers what",
	}
}

// ofTheSite are the reasons that another site need not have.
var ofTheSite = map[problem.Reason]bool{
	problem.TooWide: true, problem.TooLate: true, problem.NoMemory: true, problem.NoLicense: true,
	problem.CannotRun: true,
}

// noEstimate returns why no candidate gave an estimate. If all refused for the same
// reason, it is that reason: the request is wrong, not the grid. It is not if one of
// the silent sites, which offer the service too, could take the request.
func noEstimate(
	service string, sites []*mapping.Site, results []result[mapping.Answer], silent []string,
) *problem.Problem {
	first := results[0].problem
	same := len(silent) == 0 || !ofTheSite[first.Reason]
	final := len(silent) == 0 // each site has its reason, and no reason goes away by itself
	var all []string
	for i := range results {
		r := &results[i]
		same = same && r.refused(first.Reason)
		final = final && r.refused() && !r.problem.Retryable
		all = append(all, fmt.Sprintf("%s: %v", sites[i].Name, r.problem))
	}
	for _, name := range silent {
		all = append(all, name+": does not answer")
	}
	switch {
	case same && len(results) == 1:
		p := *first
		return &p
	case same:
		p := *first
		p.Message = fmt.Sprintf("%s (%s; all %d sites that offer %s say so)",
			first.Error(), sites[0].Name, len(results), service)
		return &p
	case final:
		return &problem.Problem{
			Reason:  problem.NoCandidate,
			Message: fmt.Sprintf("every site that offers %s refuses: %s", service, strings.Join(all, "; ")),
			Hint:    "the message says what each site would accept",
		}
	}
	return &problem.Problem{
		Reason: problem.NoCandidate, Retryable: true,
		Message: fmt.Sprintf("no site that offers %s gave an estimate: %s", service, strings.Join(all, "; ")),
		Hint:    "try again; drover sites shows which sites answer",
	}
}

// earliestOffer returns the refusal with the offer that completes first, the first of
// equal ones; nil if no site offers anything.
func earliestOffer[T any](results []result[T]) *problem.Problem {
	var best *problem.Problem
	for i := range results {
		p := results[i].problem
		if results[i].refused() && p.Offer != nil && (best == nil || p.Offer.Completion < best.Offer.Completion) {
			best = p
		}
	}
	return best
}

// noOffer returns why no site agrees to a request, with the earliest completion that
// a site could promise; nil if the request failed for another reason.
func noOffer(sites []*mapping.Site, results []result[mapping.Answer], silent []string) *problem.Problem {
	p := &problem.Problem{
		Reason: problem.NoOffer, Field: "request.deadline",
		Hint: "--negotiate shows what each site could offer, --best-effort asks for no agreement",
	}
	best, unable := earliestOffer(results), 0
	for i := range results {
		if results[i].refused(problem.NoPromise) {
			unable++
		}
	}
	switch {
	case best != nil && best.Reason == problem.NoOffer:
		p.Offer = best.Offer
		p.Accepted = best.Accepted
		p.Message = fmt.Sprintf(
			"no site can keep the deadline; the earliest completion that a site could promise is in %v, at %s",
			best.Offer.Completion.Round(time.Second), best.Offer.Site)
	case unable > 0 && unable == len(results):
		p.Reason, p.Field = problem.NoPromise, "request.agreement"
		p.Message = "no site makes promises: their policies only forecast when jobs complete"
	default:
		return nil
	}
	missing := append([]string(nil), silent...)
	for i := range results {
		if !results[i].refused() {
			missing = append(missing, sites[i].Name)
		}
	}
	if len(missing) > 0 {
		p.Retryable = true
		p.Message += "; no answer from " + strings.Join(missing, ", ")
	}
	return p
}

// withoutElsewhere leaves out the sites that only say that a reservation or sticky
// data are elsewhere, unless all do: the site that has them knows the reason.
func withoutElsewhere(
	sites []*mapping.Site, results []result[mapping.Answer],
) (left []*mapping.Site, reasons []result[mapping.Answer]) {
	for i := range results {
		if !results[i].refused(problem.UnknownReservation, problem.StickyData) {
			left, reasons = append(left, sites[i]), append(reasons, results[i])
		}
	}
	if len(left) == 0 {
		return sites, results
	}
	return left, reasons
}

// noReservation returns why no site offers a reservation: the one reason if it is the
// same everywhere, otherwise all of them with the nearest offer.
func noReservation[T any](sites []*mapping.Site, results []result[T]) *problem.Problem {
	best, same := earliestOffer(results), true
	var all []string
	retry := false
	for i := range results {
		r := &results[i]
		same = same && r.refused(results[0].problem.Reason)
		retry = retry || !r.refused()
		all = append(all, fmt.Sprintf("%s: %v", sites[i].Name, r.problem))
	}
	p := *results[0].problem
	switch {
	case same && best != nil:
		p = *best
	case same:
	case best != nil:
		p = problem.Problem{
			Reason: problem.NoRoom, Field: best.Field, Accepted: best.Accepted, Message: strings.Join(all, "; "),
			Retryable: retry, Offer: best.Offer,
		}
	default:
		p = problem.Problem{
			Reason: problem.NoCandidate, Message: strings.Join(all, "; "), Retryable: retry,
			Hint: "drover sites shows which sites answer",
		}
	}
	return &p
}
