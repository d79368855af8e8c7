package agent

import (
	"testing"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

func TestARefusalIsFinalOnlyIfNoSilentSiteCouldTakeTheRequest(t *testing.T) {
	refused := func(r problem.Reason) result[mapping.Answer] {
		return result[mapping.Answer]{missing: mapping.Refused, problem: &problem.Problem{Reason: r, Message: "no"}}
	}
	for name, c := range map[string]struct {
		reason problem.Reason
		silent []string
		want   problem.Reason
	}{
		"too wide for all there are":           {"too-wide", nil, "too-wide"},
		"too wide for those that answer":       {"too-wide", []string{"lyon"}, problem.NoCandidate},
		"a wrong argument is wrong everywhere": {"wrong-type", []string{"lyon"}, "wrong-type"},
	} {
		p := noEstimate("lu", []*mapping.Site{{Name: "nancy"}}, []result[mapping.Answer]{refused(c.reason)}, c.silent)
		if p.Reason != c.want || p.Retryable != (c.want == problem.NoCandidate) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestARequestThatAllSitesRefuseIsNotRetryable(t *testing.T) {
	sites := []*mapping.Site{{Name: "lyon"}, {Name: "nancy"}}
	for name, c := range map[string]struct {
		second result[mapping.Answer]
		silent []string
		again  bool
	}{
		"both for good": {result[mapping.Answer]{
			missing: mapping.Refused, problem: &problem.Problem{Reason: "too-late"},
		}, nil, false},
		"one for now": {result[mapping.Answer]{
			missing: mapping.Refused, problem: &problem.Problem{Reason: problem.QueueFull, Retryable: true},
		}, nil, true},
		"one does not answer": {result[mapping.Answer]{
			missing: mapping.Timeout, problem: &problem.Problem{Reason: problem.Timeout},
		}, nil, true},
		"one more has not been": {result[mapping.Answer]{
			missing: mapping.Refused, problem: &problem.Problem{Reason: "too-late"},
		}, []string{"rennes"}, true},
	} {
		first := result[mapping.Answer]{missing: mapping.Refused, problem: &problem.Problem{Reason: "no-license"}}
		if p := noEstimate("lu", sites, []result[mapping.Answer]{first, c.second},
			c.silent); p.Reason != problem.NoCandidate || p.Retryable != c.again {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
