package agent

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// nearest returns the refusal of whom the completion comes first that could be had
// instead, ties to the first one; nil if nobody offers anything.
func nearest[T any](results []result[T]) *problem.Problem {
	var best *problem.Problem
	for i := range results {
		p := results[i].problem
		if results[i].missing == mapping.Refused && p.Offer != nil && (best == nil || p.Offer.Completion < best.Offer.Completion) {
			best = p
		}
	}
	return best
}

// noOffer says why nobody agrees to a request; nil if that is not what has become of
// it. It names the earliest completion that anybody could promise.
func noOffer(sites []*mapping.Site, results []result[mapping.Answer], silent []string) *problem.Problem {
	p := &problem.Problem{Reason: problem.NoOffer, Field: "request.deadline", Hint: "--negotiate shows what each site could offer, --best-effort asks for no agreement"}
	best, unable := nearest(results), 0
	for i := range results {
		if results[i].missing == mapping.Refused && results[i].problem.Reason == problem.NoPromise {
			unable++
		}
	}
	switch {
	case best != nil && best.Reason == problem.NoOffer:
		p.Offer = best.Offer
		p.Accepted = best.Accepted
		p.Message = fmt.Sprintf("no site can keep the deadline; the earliest completion that anyone could promise is in %v, at %s",
			best.Offer.Completion.Round(time.Second), best.Offer.Site)
	case unable > 0 && unable == len(results):
		p.Reason, p.Field = problem.NoPromise, "request.agreement"
		p.Message = "no site promises anything: their policies only forecast when jobs are completed"
	default:
		return nil
	}
	others := append([]string(nil), silent...)
	for i := range results {
		if results[i].missing != mapping.Refused {
			others = append(others, sites[i].Name)
		}
	}
	if len(others) > 0 {
		p.Retryable = true
		p.Message += "; without an answer: " + strings.Join(others, ", ")
	}
	return p
}

// elsewhere takes the sites out that only say that they do not have a reservation, or
// sticky data, unless all do: the one that has it tells why.
func elsewhere(sites []*mapping.Site, results []result[mapping.Answer]) ([]*mapping.Site, []result[mapping.Answer]) {
	var (
		left []*mapping.Site
		told []result[mapping.Answer]
	)
	for i := range results {
		if results[i].missing != mapping.Refused ||
			results[i].problem.Reason != problem.UnknownReservation && results[i].problem.Reason != problem.StickyData {
			left, told = append(left, sites[i]), append(told, results[i])
		}
	}
	if len(left) == 0 {
		return sites, results
	}
	return left, told
}

// noneOf says why no site offers anything: the one reason, if it is the same
// everywhere, else that nothing can be had, with what comes nearest.
func noneOf[T any](sites []*mapping.Site, results []result[T]) *problem.Problem {
	best, same := nearest(results), true
	var all []string
	retry := false
	for i := range results {
		r := &results[i]
		same = same && r.missing == mapping.Refused && r.problem.Reason == results[0].problem.Reason
		retry = retry || r.missing != mapping.Refused
		all = append(all, fmt.Sprintf("%s: %v", sites[i].Name, r.problem))
	}
	p := *results[0].problem
	switch {
	case same && best != nil:
		p = *best
	case same:
	case best != nil:
		p = problem.Problem{Reason: problem.NoRoom, Field: best.Field, Accepted: best.Accepted, Message: strings.Join(all, "; "), Retryable: retry, Offer: best.Offer}
	default:
		p = problem.Problem{Reason: problem.NoCandidate, Message: strings.Join(all, "; "), Retryable: retry, Hint: "drover sites shows who answers"}
	}
	return &p
}
