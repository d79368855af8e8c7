package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/seed-9b8f70bb/drover/client/clienttest"
	droverv1 "github.com/seed-9b8f70bb/drover/proto/drover/v1"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// booker is a server that answers the nth booking.
type booker struct {
	clienttest.Server
	book func(nth int) error
	ids  []string
}

func (b *booker) BookReservation(
	_ context.Context, req *droverv1.BookReservationRequest,
) (*droverv1.BookReservationResponse, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.ids = append(b.ids, req.GetBooking().GetId())
	if err := b.book(len(b.ids)); err != nil {
		return nil, err
	}
	return &droverv1.BookReservationResponse{Reservation: &droverv1.Reservation{
		Id: req.GetBooking().GetId(), Site: b.Name, Owner: req.GetBooking().GetOwner(),
		State: droverv1.ReservationState_RESERVATION_STATE_BOOKED,
	}}, nil
}

func TestABookingGoesElsewhereOnlyIfRefusedOrNotSent(t *testing.T) {
	taken := func(int) error { return nil }
	full := func(int) error {
		return clienttest.Refusal(connect.CodeFailedPrecondition, &droverv1.ErrorDetail{
			Reason: "no-room", Message: "full", Offer: &droverv1.Offer{Width: 3},
		})
	}
	silent := func(int) error { return errors.New("broken") }
	once := func(nth int) error {
		if nth == 1 {
			return errors.New("broken")
		}
		return nil
	}
	for _, c := range []struct {
		name   string
		a, b   func(int) error
		down   bool // a
		site   string
		reason problem.Reason
		asked  bool // b was
	}{
		{name: "the first takes it", a: taken, b: taken, site: "a"},
		{name: "refused", a: full, b: taken, site: "b", asked: true},
		{name: "not there", a: taken, b: taken, down: true, site: "b", asked: true},
		{name: "unheard once", a: once, b: taken, site: "a"},
		{name: "unheard", a: silent, b: taken, reason: problem.Unknown},
		{name: "refused by all", a: full, b: full, reason: "no-room", asked: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := patient(5 * time.Second)
			cfg.Owner = "ann"
			w, client := newWorld(t, cfg)
			a, b := &booker{book: c.a}, &booker{book: c.b}
			for name, s := range map[string]*booker{"a": a, "b": b} {
				s.Name = name
				w.ServeServer(t, s.Name, s)
			}
			if c.down {
				w.Down("a")
			}
			r, err := client.Reserve(t.Context(), Booking{Width: 2, Duration: time.Hour})
			if c.reason != "" {
				e, is := errors.AsType[*problem.Problem](err)
				if !is || e.Reason != c.reason || c.reason == "no-room" && (e.Offer == nil || e.Offer.Width != 3) {
					t.Errorf("%s: %v", c.name, err)
				}
			} else if err != nil || r.Site != c.site || r.Owner != "ann" || r.State != ReservationBooked {
				t.Errorf("%s: %+v, %v", c.name, r, err)
			}
			if asked := len(b.ids) > 0; asked != c.asked {
				t.Errorf("%s: the second site was asked: %v", c.name, asked)
			}
			for _, id := range append(a.ids, b.ids...) {
				if id != append(a.ids, b.ids...)[0] {
					t.Errorf("%s: several IDs", c.name)
				}
			}
		})
	}
}
