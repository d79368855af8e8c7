package client

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// AtSite has the request submitted to one site only, where its job stays: it is never
// moved. Without it the grid chooses.
// The agent asks that site all the same, so that a refusal is told before anything is sent.
// The job's record is without a decision then: nobody has compared anything.
func AtSite(site string) Arg { return func(r *request) { r.site = site } }

// only reduces a ranking to the one site that a request may go to.
func (m ranking) only(r *request) (ranking, error) {
	if r.site == "" {
		return m, nil
	}
	if i := slices.IndexFunc(m.Targets, func(t target) bool { return t.Site == r.site }); i >= 0 {
		return ranking{Targets: m.Targets[i : i+1]}, nil
	}
	if m.Decision != nil {
		for _, c := range m.Decision.Candidates {
			if c.Site == r.site && c.Missing != nil && c.Missing.Detail != nil && c.Missing.Reason == "refused" {
				return ranking{}, c.Missing.Detail
			}
		}
	}
	return ranking{}, &problem.Problem{
		Reason: problem.Unreachable, Field: "site", Retryable: true,
		Message: fmt.Sprintf("site %s did not say whether it takes a request for %s", r.site, r.service),
		Hint:    "drover sites shows whether it is up, drover services what it offers",
	}
}
