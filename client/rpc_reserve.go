package client

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed-9b8f70bb/drover/client/submission"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
)

func bookingOut(b Booking) *droverv1.Booking {
	m := &droverv1.Booking{Id: b.ID, Name: b.Name, Owner: b.Owner, Width: int32(b.Width), Duration: durationpb.New(b.Duration)}
	if !b.From.IsZero() {
		m.From = timestamppb.New(b.From)
	}
	if !b.Until.IsZero() {
		m.Until = timestamppb.New(b.Until)
	}
	return m
}

func reservationIn(r *droverv1.Reservation) *Reservation {
	return &Reservation{
		ID: r.GetId(), Site: r.GetSite(), Name: r.GetName(), Owner: r.GetOwner(), Width: int(r.GetWidth()),
		Start: timeIn(r.GetStart()), End: timeIn(r.GetEnd()), State: ReservationState(word(r.GetState().String(), "RESERVATION_STATE_")),
		Booked: timeIn(r.GetBookedAt()), Cancelled: timeIn(r.GetCancelledAt()), Waiting: int(r.GetWaiting()), Running: int(r.GetRunning()),
	}
}

// offerReservation returns where a booking could be had, the earliest first.
func (f *face) offerReservation(ctx context.Context, agent string, b Booking) ([]reservationOffer, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).OfferReservation(ctx, &droverv1.AgentServiceOfferReservationRequest{Booking: bookingOut(b), Site: b.Site})
	if err != nil {
		return nil, call.failed(err)
	}
	var out []reservationOffer
	for _, o := range res.GetOffers() {
		out = append(out, reservationOffer{
			target:      submission.Target{Site: o.GetTarget().GetSite(), Address: o.GetTarget().GetAddress()},
			reservation: *reservationIn(o.GetReservation()),
		})
	}
	return out, nil
}

func (f *face) book(ctx context.Context, server string, b Booking) (*Reservation, error) {
	ctx, call := begin(ctx, "server", server)
	res, err := f.server(server).BookReservation(ctx, &droverv1.BookReservationRequest{Booking: bookingOut(b)})
	if err != nil {
		return nil, call.failed(err)
	}
	return reservationIn(res.GetReservation()), nil
}

func (f *face) reservations(ctx context.Context, agent, filter string) (*ReservationList, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).ListReservations(ctx, &droverv1.AgentServiceListReservationsRequest{Filter: filter})
	if err != nil {
		return nil, call.failed(err)
	}
	out := &ReservationList{}
	for _, r := range res.GetReservations() {
		out.Reservations = append(out.Reservations, *reservationIn(r))
	}
	missing := make(map[string]Missing)
	addMissing(missing, res.GetMissing())
	out.Missing = inOrder(missing)
	return out, nil
}

func (f *face) unreserve(ctx context.Context, agent, id string) (*Reservation, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).CancelReservation(ctx, &droverv1.AgentServiceCancelReservationRequest{Id: id})
	if err != nil {
		return nil, call.failed(err)
	}
	return reservationIn(res.GetReservation()), nil
}

func (f *face) site(ctx context.Context, agent, name string) (*SiteDetail, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).GetSite(ctx, &droverv1.AgentServiceGetSiteRequest{Site: name})
	if err != nil {
		return nil, call.failed(err)
	}
	out := &SiteDetail{Site: siteIn(res.GetSite())}
	if p := res.GetPolicy(); p != nil {
		out.PolicyState = &PolicyState{Active: p.GetActive(), Figures: figuresIn(p.GetFigures())}
		for _, s := range p.GetSwitches() {
			out.PolicyState.Switches = append(out.PolicyState.Switches, PolicySwitch{
				At: timeIn(s.GetAt()), From: s.GetFrom(), To: s.GetTo(), Values: figuresIn(s.GetValues()),
			})
		}
	}
	return out, nil
}

func figuresIn(list []*droverv1.PolicyFigure) []Figure {
	out := make([]Figure, 0, len(list))
	for _, f := range list {
		out = append(out, Figure{Name: f.GetName(), Value: f.GetValue()})
	}
	return out
}

// negotiate asks one agent for the offers of all sites.
func (f *face) negotiate(ctx context.Context, agent string, r *request, within time.Duration) (*Decision, error) {
	ctx, call := begin(ctx, "agent", agent)
	res, err := f.agent(agent).Map(ctx, &droverv1.MapRequest{Request: requestOut(r), Deadline: durationpb.New(within), Negotiate: true})
	if err != nil {
		return nil, call.failed(err)
	}
	return decisionIn(res.GetDecision()), nil
}

func agreementOut(a *Terms) *droverv1.Agreement {
	if a == nil {
		return nil
	}
	return &droverv1.Agreement{Value: a.Value, Penalty: a.Penalty, Checkpointable: a.Checkpointable}
}

func termsIn(a *droverv1.Agreement) *Terms {
	if a == nil {
		return nil
	}
	return &Terms{Value: a.GetValue(), Penalty: a.GetPenalty(), Checkpointable: a.GetCheckpointable()}
}

func agreementsIn(a *droverv1.AgreementCounts) Agreements {
	return Agreements{
		Accepted: a.GetAccepted(), Kept: a.GetKept(), BrokenByUser: a.GetBrokenByUser(), BrokenBySite: a.GetBrokenBySite(),
		Void: a.GetVoid(), Value: a.GetValue(), Penalty: a.GetPenalty(),
	}
}

func offerIn(o *droverv1.Offer) *Offer {
	if o == nil {
		return nil
	}
	return &Offer{Site: o.GetSite(), Wait: o.GetWait().AsDuration(), Completion: o.GetCompletion().AsDuration(), Width: int(o.GetWidth())}
}
