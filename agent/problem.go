package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
)

// reason is the stable word of a problem, one of those that ErrorDetail lists.
type reason string

const (
	badValue       reason = "bad-value"
	outOfRange     reason = "out-of-range"
	unknownService reason = "unknown-service"
	unknownJob     reason = "unknown-job"
	noSite         reason = "no-site"
	noCandidate    reason = "no-candidate"
	unreachable    reason = "unreachable"
	timedOut       reason = "timeout"
	internal       reason = "internal"
)

// problem is an error that a client is told about in full.
type problem struct {
	reason    reason
	field     string
	accepted  string
	message   string
	hint      string
	retryable bool
}

// Error says what happened to a person. What a server says is whole already.
func (p *problem) Error() string {
	text := p.message
	if strings.Contains(text, "accepted: ") {
		return text
	}
	if p.field != "" {
		text = p.field + ": " + text
	}
	if p.accepted != "" {
		text += ", accepted: " + p.accepted
	}
	return text
}

// asProblem turns any error into one that can be told. What is not a problem
// yet is a bug, or the end of the call.
func asProblem(err error) *problem {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &problem{reason: timedOut, message: "the call ended before the sites had answered", retryable: true}
	}
	return &problem{reason: internal, message: err.Error()}
}

// noSites is the answer of an agent that knows no site.
func noSites(joined int) *problem {
	p := &problem{
		reason: noSite, message: "no site has joined this agent", retryable: true,
		hint: "start a server whose gossip seeds name this agent, or wait until one is up",
	}
	if joined > 0 {
		p.message = fmt.Sprintf("%d sites have joined this agent and none is ready", joined)
		p.hint = "try again in a moment; the agent's log says why a site is not ready"
	}
	return p
}

// nobody says why no candidate gave an estimate. If all refused, and for the
// same reason, it is that reason: the request is at fault and not the grid.
func nobody(service string, sites []*mapping.Site, results []result[mapping.Answer]) *problem {
	first := results[0].problem
	same := true
	var all []string
	for i, r := range results {
		same = same && r.missing == mapping.Refused && r.problem.reason == first.reason
		all = append(all, fmt.Sprintf("%s: %v", sites[i].Name, r.problem))
	}
	if !same {
		return &problem{
			reason: noCandidate, retryable: true,
			message: fmt.Sprintf("no site that offers %s gave an estimate: %s", service, strings.Join(all, "; ")),
			hint:    "try again; drover sites shows who answers",
		}
	}
	p := *first
	if len(results) > 1 {
		p.message = fmt.Sprintf("%s (%s; so said all %d sites that offer %s)", p.message, sites[0].Name, len(results), service)
	}
	return &p
}
