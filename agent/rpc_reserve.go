package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
)

// OfferReservation asks the sites which reservation a booking would get.
func (f face) OfferReservation(ctx context.Context, req *droverv1.AgentServiceOfferReservationRequest) (*droverv1.AgentServiceOfferReservationResponse, error) {
	sites, peers := f.a.known()
	if req.GetSite() != "" {
		s, p, err := f.a.siteNamed(req.GetSite())
		if err != nil {
			return nil, err
		}
		sites, peers = []*mapping.Site{s}, []*peer{p}
	}
	if len(sites) == 0 {
		return nil, noSites(f.a.joined)
	}
	results := ask(ctx, f.a.patienceFor(ctx, 0), sites, peers, func(ctx context.Context, _ *mapping.Site, p *peer) result[*droverv1.OfferReservationResponse] {
		res, err := p.client.OfferReservation(ctx, &droverv1.OfferReservationRequest{Booking: req.GetBooking()})
		switch {
		case err != nil:
			return failed[*droverv1.OfferReservationResponse](ctx, err)
		case res.GetRefusal() != nil:
			return result[*droverv1.OfferReservationResponse]{missing: mapping.Refused, problem: (*problem.Problem)(rpc.ProblemOf(res.GetRefusal()))}
		}
		return result[*droverv1.OfferReservationResponse]{value: res}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := &droverv1.AgentServiceOfferReservationResponse{}
	for i, s := range sites {
		r := &results[i]
		if r.missing != mapping.Answered {
			out.Missing = append(out.Missing, &droverv1.Candidate{Site: s.Name, Missing: missingMessage(r.missing, r.problem)})
			continue
		}
		offer := &droverv1.ReservationOffer{Target: &droverv1.Target{Site: s.Name, Address: s.Address}, Reservation: r.value.GetReservation()}
		if r.value.GetBooked() {
			out.Offers, out.Missing = []*droverv1.ReservationOffer{offer}, nil
			return out, nil
		}
		out.Offers = append(out.Offers, offer)
	}
	if len(out.Offers) == 0 {
		return nil, noneOf(sites, results)
	}
	slices.SortFunc(out.Offers, func(a, b *droverv1.ReservationOffer) int {
		return cmp.Or(a.GetReservation().GetStart().AsTime().Compare(b.GetReservation().GetStart().AsTime()),
			strings.Compare(a.GetTarget().GetSite(), b.GetTarget().GetSite()))
	})
	return out, nil
}

// ListReservations lists the reservations of all sites.
func (f face) ListReservations(ctx context.Context, req *droverv1.AgentServiceListReservationsRequest) (*droverv1.AgentServiceListReservationsResponse, error) {
	want, err := parseFilter(req.GetFilter(), "site", "id", "state", "owner")
	if err != nil {
		return nil, err
	}
	var terms []string
	for _, key := range []string{"id", "state", "owner"} {
		if value, ok := want[key]; ok {
			terms = append(terms, key+"="+value)
		}
	}
	inner := strings.Join(terms, " ")
	sites, peers := f.a.known()
	results := ask(ctx, f.a.patienceFor(ctx, 0), sites, peers, func(ctx context.Context, s *mapping.Site, p *peer) result[[]*droverv1.Reservation] {
		if !want.allows("site", s.Name) {
			return result[[]*droverv1.Reservation]{}
		}
		res, err := p.client.ListReservations(ctx, &droverv1.ServerServiceListReservationsRequest{Filter: inner, PageSize: rpc.LargestPage})
		if err != nil {
			return failed[[]*droverv1.Reservation](ctx, err)
		}
		return result[[]*droverv1.Reservation]{value: res.GetReservations()}
	})
	out := &droverv1.AgentServiceListReservationsResponse{}
	for i, s := range sites {
		r := &results[i]
		switch {
		case r.missing == mapping.Refused: // the filter
			return nil, r.problem
		case r.missing != mapping.Answered && want.allows("site", s.Name):
			out.Missing = append(out.Missing, &droverv1.Candidate{Site: s.Name, Missing: missingMessage(r.missing, r.problem)})
		}
		out.Reservations = append(out.Reservations, r.value...)
	}
	return out, nil
}

// CancelReservation passes a cancel on to the site that has the reservation.
func (f face) CancelReservation(ctx context.Context, req *droverv1.AgentServiceCancelReservationRequest) (*droverv1.AgentServiceCancelReservationResponse, error) {
	sites, peers := f.a.known()
	results := ask(ctx, f.a.patienceFor(ctx, 0), sites, peers, func(ctx context.Context, _ *mapping.Site, p *peer) result[*droverv1.Reservation] {
		res, err := p.client.CancelReservation(ctx, &droverv1.CancelReservationRequest{Id: req.GetId()})
		if err != nil {
			return failed[*droverv1.Reservation](ctx, err)
		}
		return result[*droverv1.Reservation]{value: res.GetReservation()}
	})
	var silent []string
	for i := range results {
		switch r := &results[i]; {
		case r.missing == mapping.Answered:
			return &droverv1.AgentServiceCancelReservationResponse{Reservation: r.value}, nil
		case r.problem.Reason != problem.UnknownReservation:
			silent = append(silent, fmt.Sprintf("%s: %v", sites[i].Name, r.problem))
		}
	}
	if len(silent) > 0 {
		return nil, &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("reservation %.70q is at none of the sites that answer (%s)", req.GetId(), strings.Join(silent, "; ")),
			Hint:    "try again when they answer",
		}
	}
	return nil, &problem.Problem{
		Reason: problem.UnknownReservation, Field: "id", Message: fmt.Sprintf("there is no reservation %.70q", req.GetId()),
		Hint: "drover reservations --all lists them",
	}
}

// GetSite returns one site.
func (f face) GetSite(ctx context.Context, req *droverv1.AgentServiceGetSiteRequest) (*droverv1.AgentServiceGetSiteResponse, error) {
	s, p, err := f.a.siteNamed(req.GetSite())
	if err != nil {
		return nil, err
	}
	r := askOne(ctx, f.a, s, p, func(ctx context.Context, p *peer) (*droverv1.GetSiteResponse, error) {
		return p.client.GetSite(ctx, &droverv1.GetSiteRequest{})
	})
	site := proto.CloneOf(p.about.GetSite())
	site.Address = s.Address
	out := &droverv1.AgentServiceGetSiteResponse{Site: &droverv1.KnownSite{
		Site: site, Status: r.value.GetStatus(), Missing: missingMessage(r.missing, r.problem),
	}, Policy: r.value.GetPolicy()}
	if r.missing != mapping.Answered {
		out.Site.HeardAgo = durationOut(max(f.a.now().Sub(s.Heard), 0))
		return out, nil
	}
	// What its nodes can do a site learns from them, after the agent has heard of it.
	site.Capabilities = r.value.GetSite().GetCapabilities()
	f.a.heard(s.Name, loadIn(r.value.GetStatus()))
	return out, nil
}
