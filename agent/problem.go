package agent

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// noSites is the answer of an agent that knows no site.
func noSites(joined int) *problem.Problem {
	p := &problem.Problem{
		Reason: problem.NoSite, Message: "no site has joined this agent", Retryable: true,
		Hint: "start a server whose gossip seeds name this agent, or wait until one is up",
	}
	if joined > 0 {
		p.Message = fmt.Sprintf("%d sites have joined this agent and none is ready", joined)
		p.Hint = "try again in a moment; the agent's log says why a site is not ready"
	}
	return p
}

// ofTheSite are the reasons for which another site may take what one refuses.
var ofTheSite = map[problem.Reason]bool{"too-wide": true, "too-late": true, "no-memory": true, "no-license": true, "cannot-run": true}

// nobody says why no candidate gave an estimate. If all refused, and for the
// same reason, it is that reason: the request is at fault and not the grid. It is
// not if one of the silent sites, which offer the service too, might take it.
func nobody(service string, sites []*mapping.Site, results []result[mapping.Answer], silent []string) *problem.Problem {
	first := results[0].problem
	same := len(silent) == 0 || !ofTheSite[first.Reason]
	final := len(silent) == 0 // each has its reason, and none of them goes away by itself
	var all []string
	for i, r := range results {
		same = same && r.missing == mapping.Refused && r.problem.Reason == first.Reason
		final = final && r.missing == mapping.Refused && !r.problem.Retryable
		all = append(all, fmt.Sprintf("%s: %v", sites[i].Name, r.problem))
	}
	for _, name := range silent {
		all = append(all, name+": does not answer")
	}
	if !same && final {
		return &problem.Problem{
			Reason: problem.NoCandidate, Message: fmt.Sprintf("every site that offers %s refuses: %s", service, strings.Join(all, "; ")),
			Hint: "what each would accept is in the message",
		}
	}
	if !same {
		return &problem.Problem{
			Reason: problem.NoCandidate, Retryable: true,
			Message: fmt.Sprintf("no site that offers %s gave an estimate: %s", service, strings.Join(all, "; ")),
			Hint:    "try again; drover sites shows who answers",
		}
	}
	p := *first
	if len(results) > 1 {
		p.Message = fmt.Sprintf("%s (%s; so said all %d sites that offer %s)", p.Message, sites[0].Name, len(results), service)
	}
	return &p
}

// drainingSite is the problem of a site that takes no new jobs.
func drainingSite(name string) *problem.Problem {
	return &problem.Problem{
		Reason: problem.Draining, Retryable: true, Message: "site " + name + " is draining: it takes no new jobs",
		Hint: "drover resume " + name + " lets it take jobs again",
	}
}
