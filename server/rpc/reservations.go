package rpc

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/proto/rpc"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// agreementsOut and reservationsOut map the core's values to the wire.
var (
	agreementsOut = map[site.AgreementState]droverv1.AgreementState{
		site.AgreedOpen:   droverv1.AgreementState_AGREEMENT_STATE_OPEN,
		site.AgreedKept:   droverv1.AgreementState_AGREEMENT_STATE_KEPT,
		site.BrokenByUser: droverv1.AgreementState_AGREEMENT_STATE_BROKEN_BY_USER,
		site.BrokenBySite: droverv1.AgreementState_AGREEMENT_STATE_BROKEN_BY_SITE,
		site.AgreedVoid:   droverv1.AgreementState_AGREEMENT_STATE_VOID,
	}
	reservationsOut = map[site.ReservationState]droverv1.ReservationState{
		site.ReservationBooked:    droverv1.ReservationState_RESERVATION_STATE_BOOKED,
		site.ReservationOpen:      droverv1.ReservationState_RESERVATION_STATE_OPEN,
		site.ReservationOver:      droverv1.ReservationState_RESERVATION_STATE_OVER,
		site.ReservationCancelled: droverv1.ReservationState_RESERVATION_STATE_CANCELLED,
	}
)

// OfferReservation returns what a booking would get.
func (h handler) OfferReservation(
	ctx context.Context, req *droverv1.OfferReservationRequest,
) (*droverv1.OfferReservationResponse, error) {
	r, err := h.s.OfferReservation(ctx, bookingIn(req.GetBooking()))
	switch p := h.s.Problem(err); {
	case p != nil && (Declines(p) || p.Reason == problem.NoReservations):
		return &droverv1.OfferReservationResponse{Refusal: rpc.DetailOf(p)}, nil
	case err != nil:
		return nil, err
	}
	return &droverv1.OfferReservationResponse{Reservation: h.reservationOut(&r), Booked: r.Booked != 0}, nil
}

// BookReservation reserves processors.
func (h handler) BookReservation(
	ctx context.Context, req *droverv1.BookReservationRequest,
) (*droverv1.BookReservationResponse, error) {
	r, err := h.s.BookReservation(ctx, bookingIn(req.GetBooking()))
	if err != nil {
		return nil, err
	}
	return &droverv1.BookReservationResponse{Reservation: h.reservationOut(&r)}, nil
}

// ListReservations lists this site's reservations.
func (h handler) ListReservations(
	ctx context.Context, req *droverv1.ServerServiceListReservationsRequest,
) (*droverv1.ServerServiceListReservationsResponse, error) {
	size, err := rpc.PageSize(req.GetPageSize())
	if err != nil {
		return nil, err
	}
	filter, err := reservationFilterIn(req.GetFilter())
	if err != nil {
		return nil, err
	}
	var after struct {
		Start batch.Time  `json:"s"`
		ID    batch.JobID `json:"i"`
	}
	if err := rpc.ParseToken(req.GetPageToken(), &after); err != nil {
		return nil, err
	}
	list, err := h.s.Reservations(ctx, filter)
	if err != nil {
		return nil, err
	}
	out := &droverv1.ServerServiceListReservationsResponse{}
	for i := range list {
		r := &list[i]
		if req.GetPageToken() != "" && (r.Start < after.Start || r.Start == after.Start && r.ID <= after.ID) {
			continue
		}
		if len(out.Reservations) == size {
			out.NextPageToken = rpc.Token(after)
			break
		}
		out.Reservations = append(out.Reservations, h.reservationOut(r))
		after.Start, after.ID = r.Start, r.ID
	}
	return out, nil
}

// CancelReservation cancels a reservation.
func (h handler) CancelReservation(
	ctx context.Context, req *droverv1.CancelReservationRequest,
) (*droverv1.CancelReservationResponse, error) {
	r, err := h.s.CancelReservation(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &droverv1.CancelReservationResponse{Reservation: h.reservationOut(&r)}, nil
}

func bookingIn(b *droverv1.Booking) site.Booking {
	return site.Booking{
		ID: batch.JobID(b.GetId()), Name: b.GetName(), Owner: b.GetOwner(), Width: b.GetWidth(),
		Duration: durationIn(b.GetDuration()), From: timeIn(b.GetFrom()), Until: timeIn(b.GetUntil()),
	}
}

func (h handler) reservationOut(r *site.Reservation) *droverv1.Reservation {
	return &droverv1.Reservation{
		Id: string(r.ID), Site: h.s.About().Name, Name: r.Name, Owner: r.Owner, Width: r.Width, Start: timeOut(r.Start),
		End:   timeOut(r.End),
		State: reservationsOut[r.State(h.s.Now())], BookedAt: timeOut(r.Booked), CancelledAt: timeOut(r.Cancelled),
		Waiting: int32(r.Waiting), Running: int32(r.Running),
	}
}

// reservationFilterIn parses terms key=value.
func reservationFilterIn(text string) (f site.ReservationFilter, err error) {
	const accepted = "terms key=value, keys id, state (active, booked, open, over, cancelled), owner"
	for _, term := range strings.Fields(text) {
		key, value, ok := strings.Cut(term, "=")
		known := ok && value != ""
		switch {
		case key == "id":
			f.ID = batch.JobID(value)
		case key == "owner":
			f.Owner = value
		case key == "state" && value == "active":
			f.Active = true
		case key == "state":
			known = false
			for state := range reservationsOut {
				if state.String() == value {
					f.State, known = state, true
				}
			}
		default:
			known = false
		}
		if !known {
			return f, &problem.Problem{
				Reason: problem.BadValue, Field: "filter", Accepted: accepted,
				Message: fmt.Sprintf("filter: %.70q, accepted: %s", term, accepted),
			}
		}
	}
	return f, nil
}

func agreementCountsOut(a site.Agreements) *droverv1.AgreementCounts {
	return &droverv1.AgreementCounts{
		Accepted: a.Accepted, Kept: a.Kept, BrokenByUser: a.ByUser, BrokenBySite: a.BySite, Void: a.Void,
		Value: a.Value, Penalty: a.Penalty,
	}
}
