package site

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Bound says whether a job stays where it is whatever happens: because of an agreement
// or a reservation, or because its request or what it uses is for this site alone.
func (j *Job) Bound() bool {
	return j.Needs != nil && (j.Needs.Agreed != nil || j.Needs.Into != "" || j.Needs.Bound)
}

// bound says whether a request is for this site alone.
func (s *Site) bound(r *Request) bool { return r.Site != "" || r.Sticky }

// notHere refuses a request that is bound to another site.
func (s *Site) notHere(r *Request) *problem.Problem {
	return &problem.Problem{
		Reason: problem.CannotRun, Field: "request.site", Accepted: fmt.Sprintf("%s, or none", s.config.Name),
		Hint:    "drover sites lists the sites; a request without one goes to the best",
		Message: fmt.Sprintf("the request is bound to site %.70q, and this is site %s", r.Site, s.config.Name),
	}
}
