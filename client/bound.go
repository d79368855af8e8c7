package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// AtSite has the request submitted to one site only, where its job stays: it is never
// moved. Without it the grid chooses.
// The agent asks that site all the same, so that a refusal is told before anything is sent.
// The job's record is without a decision then: nobody has compared anything.
func AtSite(site string) Arg { return func(r *request) { r.site = site } }

// only leaves of a ranking the one site that a request is to go to.
func (m ranking) only(r *request) (ranking, error) {
	if r.site == "" {
		return m, nil
	}
	if i := slices.IndexFunc(m.targets, func(t submission.Target) bool { return t.Site == r.site }); i >= 0 {
		return ranking{targets: m.targets[i : i+1]}, nil
	}
	if d := decisionIn(m.record); d != nil {
		for _, c := range d.Candidates {
			if c.Site == r.site && c.Missing != nil && c.Missing.Detail != nil && c.Missing.Reason == "refused" {
				said := *c.Missing.Detail
				said.kind = kindOf(&said)
				return ranking{}, &said
			}
		}
	}
	return ranking{}, &Error{
		Reason: ReasonUnreachable, Field: "site", Retryable: true, kind: submission.Busy,
		Message: fmt.Sprintf("site %s did not say whether it takes a request for %s", r.site, r.service),
		Hint:    "drover sites shows whether it is up, drover services what it offers",
	}
}

// offeredAt asks a server what a service is like there.
func (c *Client) offeredAt(ctx context.Context, address, service string) (*Service, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
	defer cancel()
	services, err := c.face.offers(ctx, address)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(services, func(s Service) bool { return s.Name == service })
	if i < 0 {
		return nil, notOffered(service)
	}
	return &services[i], nil
}
