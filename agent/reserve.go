package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-9b8f70bb/drover/agent/mapping"
	"github.com/seed-9b8f70bb/drover/agent/rpc"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// OfferReservation asks the sites, or the one that is named, which reservation a
// booking would get. The earliest offer is first. A booking that a site has already
// is the only offer.
func (a *Agent) OfferReservation(
	ctx context.Context, b rpc.Booking, only string,
) ([]rpc.ReservationOffer, []rpc.Absent, error) {
	sites, peers := a.known()
	if only != "" {
		s, p, err := a.siteNamed(only)
		if err != nil {
			return nil, nil, err
		}
		sites, peers = []*mapping.Site{s}, []*rpc.Peer{p}
	}
	if len(sites) == 0 {
		a.mu.Lock()
		defer a.mu.Unlock()
		return nil, nil, noSites(a.joined)
	}
	type offer struct {
		reservation rpc.Reservation
		booked      bool
	}
	results := ask(ctx, a.patienceFor(ctx, 0), sites, peers, func(
		ctx context.Context, _ *mapping.Site, p *rpc.Peer,
	) (o offer, err error) {
		o.reservation, o.booked, err = p.OfferReservation(ctx, b)
		return o, err
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var (
		offers  []rpc.ReservationOffer
		missing []rpc.Absent
	)
	for i, s := range sites {
		r := &results[i]
		if !r.answered() {
			missing = append(missing, r.absent(s.Name))
			continue
		}
		o := rpc.ReservationOffer{
			Target: rpc.Target{Site: s.Name, Address: s.Address}, Reservation: r.value.reservation,
		}
		if r.value.booked {
			return []rpc.ReservationOffer{o}, nil, nil
		}
		offers = append(offers, o)
	}
	if len(offers) == 0 {
		return nil, nil, noReservation(sites, results)
	}
	slices.SortFunc(offers, func(a, b rpc.ReservationOffer) int {
		return cmp.Or(a.Start().Compare(b.Start()), strings.Compare(a.Site, b.Site))
	})
	return offers, missing, nil
}

// ListReservations lists the reservations of all sites, site by site.
func (a *Agent) ListReservations(ctx context.Context, text string) ([]rpc.Reservation, []rpc.Absent, error) {
	want, err := parseFilter(text, "site", "id", "state", "owner")
	if err != nil {
		return nil, nil, err
	}
	terms := want.text("id", "state", "owner")
	sites, results, err := askAll(ctx, a, func(
		ctx context.Context, s *mapping.Site, p *rpc.Peer,
	) ([]rpc.Reservation, error) {
		if !want.allows("site", s.Name) {
			return nil, nil
		}
		return p.ListReservations(ctx, terms)
	})
	if err != nil {
		return nil, nil, err
	}
	var (
		out     []rpc.Reservation
		missing []rpc.Absent
	)
	for i, s := range sites {
		r := &results[i]
		switch {
		case r.refused(): // the filter is wrong
			return nil, nil, r.problem
		case !r.answered() && want.allows("site", s.Name):
			missing = append(missing, r.absent(s.Name))
		}
		out = append(out, r.value...)
	}
	return out, missing, nil
}

// CancelReservation cancels a reservation at the site that has it.
func (a *Agent) CancelReservation(ctx context.Context, id string) (rpc.Reservation, error) {
	sites, results, err := askAll(ctx, a, func(
		ctx context.Context, _ *mapping.Site, p *rpc.Peer,
	) (rpc.Reservation, error) {
		return p.CancelReservation(ctx, id)
	})
	var silent []string
	for i := range results {
		switch r := &results[i]; {
		case r.answered():
			return r.value, nil
		case r.problem.Reason != problem.UnknownReservation:
			silent = append(silent, fmt.Sprintf("%s: %v", sites[i].Name, r.problem))
		}
	}
	switch {
	case err != nil:
		return rpc.Reservation{}, err
	case len(silent) > 0:
		return rpc.Reservation{}, &problem.Problem{
			Reason: problem.Unreachable, Retryable: true,
			Message: fmt.Sprintf("no site that answers has reservation %s (%s)",
				quoted(id), strings.Join(silent, "; ")),
			Hint: "try again when they answer",
		}
	}
	return rpc.Reservation{}, &problem.Problem{
		Reason: problem.UnknownReservation, Field: "id", Message: "there is no reservation " + quoted(id),
		Hint: "drover reservations --all lists them",
	}
}
