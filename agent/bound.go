package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// notThere says why the only site that may run a request cannot be asked; for callers
// that hold a.mu.
func (a *Agent) notThere(q *inquiry) *problem.Problem {
	sites := a.view.Sites(nil)
	i := slices.IndexFunc(sites, func(s *mapping.Site) bool { return s.Name == q.only })
	switch {
	case i < 0 && len(sites) == 0:
		return noSites(a.joined)
	case i < 0:
		var names []string
		for _, s := range sites {
			names = append(names, s.Name)
		}
		return &problem.Problem{
			Reason: problem.UnknownSite, Field: "request.site", Accepted: "one of " + strings.Join(names, ", "),
			Message: fmt.Sprintf("nobody here knows a site %.70q", q.only), Hint: "drover sites lists them",
		}
	case sites[i].Lost:
		return &problem.Problem{
			Reason: problem.NoCandidate, Field: "request.site", Retryable: true,
			Message: fmt.Sprintf("site %s, the only one that may run the request, has fallen silent", q.only),
			Hint:    "wait until it is back, or let the request go to any site",
		}
	}
	return &problem.Problem{
		Reason: problem.UnknownService, Field: "request.service", Accepted: "one of " + strings.Join(sites[i].Services, ", "),
		Message: fmt.Sprintf("site %s does not offer %q", q.only, q.service), Hint: "drover services shows which site offers what",
	}
}
