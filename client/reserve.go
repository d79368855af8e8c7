package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/rpc"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// Booking is a request to reserve processors at one site. With From and without Until
// it begins exactly at From; otherwise it begins as early as a site's plan allows.
type Booking struct {
	ID       string        `proto:"id"` // a lower-case UUIDv7; empty for a new one. Repeating a booking changes nothing
	Name     string        `proto:"name"`
	Owner    string        `proto:"owner"` // empty for the client's own
	Width    int           `proto:"width"` // processors
	Duration time.Duration `proto:"duration"`
	From     time.Time     `proto:"from"`  // earliest start; zero for now
	Until    time.Time     `proto:"until"` // latest end; zero for none
	Site     string        // the only site that will do; empty for any
}

// ReservationState is the state of a reservation.
type ReservationState string

// The states of a reservation.
const (
	ReservationBooked    ReservationState = "booked"
	ReservationOpen      ReservationState = "open"
	ReservationOver      ReservationState = "over"
	ReservationCancelled ReservationState = "cancelled"
)

// Reservation is processors reserved for a window. Its start and end are a promise, on
// the clock of the site.
type Reservation struct {
	Message   rpc.Message      // that it was decoded from
	ID        string           `proto:"id"`
	Site      string           `proto:"site"`
	Name      string           `proto:"name"`
	Owner     string           `proto:"owner"`
	Width     int              `proto:"width"`
	Start     time.Time        `proto:"start"`
	End       time.Time        `proto:"end"`
	State     ReservationState `proto:"state"`
	Booked    time.Time        `proto:"booked_at"`    // zero for an offer
	Cancelled time.Time        `proto:"cancelled_at"` // zero if not cancelled
	Waiting   int              `proto:"waiting"`      // jobs in it
	Running   int              `proto:"running"`      // jobs in it
}

// MarshalJSON returns the JSON of a drover.v1.Reservation.
func (r Reservation) MarshalJSON() ([]byte, error) { return rpc.JSON("Reservation", r) }

// offers are the sites where a booking is possible, the earliest start first.
type offers struct {
	Offers []struct {
		Target target `proto:"target"`
	} `proto:"offers"`
}

// Reserve reserves processors at the site with the earliest start. The error is a
// *problem.Problem if no site can, with the nearest Offer if there is one. With
// problem.Unknown a booking was sent and not answered: repeating it with the same ID
// finds out.
func (c *Client) Reserve(ctx context.Context, b Booking) (*Reservation, error) {
	if b.Owner == "" {
		b.Owner = c.cfg.Owner
	}
	if b.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make the ID of a reservation: %w", err)
		}
		b.ID = id.String()
	}
	if b.Width < 1 || b.Width > 1<<30 {
		return nil, problem.Field(problem.OutOfRange, "booking.width", "1 or more", "%d", b.Width)
	}
	found, err := retry(ctx, c, func(ctx context.Context, agent string) (*offers, error) {
		return as[offers](c.conn.OfferReservation(ctx, agent, b.Site, b))
	})
	if err != nil {
		return nil, err
	}
	var last error
	for _, o := range found.Offers {
		r, err := c.bookAt(ctx, submission.Target(o.Target), b)
		if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Reason == problem.Unknown {
			return r, err
		}
		last = err // it refused the booking, or never received it
	}
	return nil, last
}

// bookAt books at one site until patience runs out. The booking may go to another site
// only if this one refuses it or nothing was sent.
func (c *Client) bookAt(ctx context.Context, at submission.Target, b Booking) (*Reservation, error) {
	silent := false
	r, err := retryServer(ctx, c, func(ctx context.Context) (*Reservation, error) {
		r, err := as[Reservation](c.conn.BookReservation(ctx, at.Address, b))
		silent = staysSilent(silent, err)
		return r, err
	})
	switch {
	case err == nil:
		return r, nil
	case silent:
		return nil, &problem.Problem{
			Reason: problem.Unknown, Message: fmt.Sprintf("whether site %s has taken reservation %s is unknown: %v",
				at.Site, b.ID, err), Cause: err,
			Hint: fmt.Sprintf("drover reservations shows it; drover reserve with --id %s and the same options tries "+
				"again", b.ID),
		}
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return nil, p
	}
	return nil, &problem.Problem{Reason: problem.Unreachable, Message: err.Error(), Retryable: true, Cause: err}
}

// staysSilent reports whether a call may have taken effect unnoticed: one without an
// answer may have, until a later answer refuses it.
func staysSilent(before bool, err error) bool {
	if err == nil {
		return false
	}
	kind := submission.FailureOf(err).Kind
	return kind == submission.Silent || before && kind != submission.Refused
}

// ReservationFilter selects reservations. The zero one selects all.
type ReservationFilter struct {
	State string // a state's name, or "active" for booked and open
	Owner string
	Site  string
}

// ReservationList is a list of reservations.
type ReservationList struct {
	Reservations []Reservation `proto:"reservations"` // by site, then by start
	Missing      []MissingSite `proto:"missing"`      // the sites that did not answer
}

// MarshalJSON returns the JSON of a drover.v1.AgentServiceListReservationsResponse.
func (l ReservationList) MarshalJSON() ([]byte, error) {
	return rpc.JSON("AgentServiceListReservationsResponse", l)
}

// Reservations lists reservations.
func (c *Client) Reservations(ctx context.Context, f ReservationFilter) (*ReservationList, error) {
	filter, err := terms("state", f.State, "owner", f.Owner, "site", f.Site)
	if err != nil {
		return nil, err
	}
	return ask(ctx, c, func(ctx context.Context, agent string) (*ReservationList, error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		return as[ReservationList](c.conn.ListReservations(ctx, agent, filter))
	})
}

// Unreserve cancels a reservation and the jobs in it.
func (c *Client) Unreserve(ctx context.Context, id string) (*Reservation, error) {
	if made, err := uuid.Parse(id); err != nil || made.String() != id {
		return nil, problem.Field(problem.BadValue, "id", "the ID of a reservation, as reserve prints it", "%q", id)
	}
	return retry(ctx, c, func(ctx context.Context, agent string) (*Reservation, error) {
		return as[Reservation](c.conn.CancelReservation(ctx, agent, id))
	})
}
