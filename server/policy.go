package server

import (
	"context"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// mostSwitches bounds how many switches of its policy a site tells.
const mostSwitches = 20

// inspected is a batch system with a policy that can be looked at.
type inspected interface {
	Inspect(ctx context.Context, see func(batch.Policy)) error
}

// policyReport returns what the site's policy says of itself; false if it says
// nothing.
func (s *Server) policyReport(ctx context.Context) (r policy.Report, says bool, err error) {
	system, able := s.system.(inspected)
	if !able {
		return r, false, nil
	}
	err = system.Inspect(ctx, func(p batch.Policy) { r, says = policy.ReportOf(s.cfg.Policy.Name, p, mostSwitches) })
	return r, says && err == nil, err
}
