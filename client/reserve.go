package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/seed-9b8f70bb/drover/client/submission"
)

// Booking is a wish to have processors set aside at one site. With From and without
// Until it is a fixed reservation, which begins then and only then; otherwise it begins
// as early as a site's plan allows.
type Booking struct {
	ID       string // a lower-case UUIDv7; empty for a fresh one. The same again changes nothing
	Name     string
	Owner    string // empty for the client's own
	Width    int    // processors
	Duration time.Duration
	From     time.Time // begins not before; zero for now
	Until    time.Time // ends not after; zero for no matter when
	Site     string    // the only one that will do; empty for any
}

// ReservationState is where a reservation is in its life.
type ReservationState string

// The states of a reservation.
const (
	ReservationBooked    ReservationState = "booked"
	ReservationOpen      ReservationState = "open"
	ReservationOver      ReservationState = "over"
	ReservationCancelled ReservationState = "cancelled"
)

// Reservation is processors set aside. Its start and end are a promise, on the clock of
// the site.
type Reservation struct {
	ID        string
	Site      string
	Name      string
	Owner     string
	Width     int
	Start     time.Time
	End       time.Time
	State     ReservationState
	Booked    time.Time // zero of an offer
	Cancelled time.Time // zero: it was not
	Waiting   int       // jobs in it
	Running   int
}

// reservationOffer is where a booking could be had.
type reservationOffer struct {
	target      submission.Target
	reservation Reservation
}

// Reserve has processors set aside where that can be soonest, and tells from when to
// when. The error is an *Error when nobody can, with the nearest Offer, if there is
// one; with ReasonUnknown a booking was sent and not answered: the same ID again is then
// the way to find out.
func (c *Client) Reserve(ctx context.Context, b Booking) (*Reservation, error) {
	if b.Owner == "" {
		b.Owner = c.cfg.Owner
	}
	if b.ID == "" {
		made, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make the ID of a reservation: %w", err)
		}
		b.ID = made.String()
	}
	if b.Width < 1 || b.Width > 1<<30 {
		return nil, &Error{Reason: ReasonOutOfRange, Field: "booking.width", Accepted: "1 or more", Message: strconv.Itoa(b.Width)}
	}
	offers, err := insist(ctx, c, func(ctx context.Context, agent string) ([]reservationOffer, error) {
		return c.face.offerReservation(ctx, agent, b)
	})
	if err != nil {
		return nil, err
	}
	var last error
	for i := range offers {
		r, err := c.bookAt(ctx, offers[i].target, b)
		if e, ok := errors.AsType[*Error](err); !ok || e.Reason == ReasonUnknown {
			return r, err
		}
		last = err // it did not take it, or never heard of it
	}
	return nil, last
}

// bookAt books at one site, as long as patience lasts: only its refusal, or that
// nothing was sent, lets the booking go elsewhere.
func (c *Client) bookAt(ctx context.Context, at submission.Target, b Booking) (*Reservation, error) {
	unheard := false
	cfg := c.tries(c.cfg.Patience)
	cfg.Agents = 1
	r, err := inquire(ctx, c, cfg, func(ctx context.Context, _ string) (*Reservation, error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		r, err := c.face.book(ctx, at.Address, b)
		unheard = err != nil && (unheard && failureOf(err).Kind != submission.Refused || failureOf(err).Kind == submission.Silent)
		return r, err
	})
	switch {
	case err == nil:
		return r, nil
	case unheard:
		return nil, &Error{
			Reason: ReasonUnknown, Message: fmt.Sprintf("whether site %s has taken reservation %s is unknown: %v", at.Site, b.ID, err), err: err,
			Hint: fmt.Sprintf("drover reservations tells; drover reserve with --id %s and the same wishes tries again", b.ID),
		}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return nil, e
	}
	return nil, &Error{Reason: ReasonUnreachable, Message: err.Error(), Retryable: true, err: err}
}

// ReservationFilter selects reservations. The zero one selects all.
type ReservationFilter struct {
	State string // a state's name, or "active" for those that are not over
	Owner string
	Site  string
}

// ReservationList is what a grid has of reservations.
type ReservationList struct {
	Reservations []Reservation // site by site, by their starts
	Missing      []Missing     // the sites that did not answer
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
		return c.face.reservations(ctx, agent, filter)
	})
}

// Unreserve gives a reservation back, and ends the jobs in it.
func (c *Client) Unreserve(ctx context.Context, id string) (*Reservation, error) {
	if made, err := uuid.Parse(id); err != nil || made.String() != id {
		return nil, &Error{Reason: ReasonBadValue, Field: "id", Accepted: "the ID of a reservation, as reserve prints it", Message: strconv.Quote(id)}
	}
	return insist(ctx, c, func(ctx context.Context, agent string) (*Reservation, error) {
		return c.face.unreserve(ctx, agent, id)
	})
}

// PolicyState is what a site's policy says of itself.
type PolicyState struct {
	Active   string // the one of its policies that it follows now
	Figures  []Figure
	Switches []PolicySwitch // the latest first
}

// Figure is a value with a name.
type Figure struct {
	Name  string
	Value float64
}

// PolicySwitch is a change from one policy to another.
type PolicySwitch struct {
	At     time.Time
	From   string
	To     string
	Values []Figure // of each of the policies, as "SLDwA of SJF"
}

// SiteDetail is a site with all that it tells of itself.
type SiteDetail struct {
	Site
	PolicyState *PolicyState // nil when its policy says nothing
}

// Site returns one site.
func (c *Client) Site(ctx context.Context, name string) (*SiteDetail, error) {
	return ask(ctx, c, func(ctx context.Context, agent string) (*SiteDetail, error) {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.CallTimeout)
		defer cancel()
		return c.face.site(ctx, agent, name)
	})
}

// Negotiate asks the sites what they would offer for a request, and submits nothing.
// That nobody would take it is no error: then nothing is Chosen.
func (c *Client) Negotiate(ctx context.Context, service string, args ...Arg) (*Decision, error) {
	r, err := c.prepare(ctx, service, args)
	if err != nil {
		return nil, err
	}
	return insist(ctx, c, func(ctx context.Context, agent string) (*Decision, error) {
		return c.face.negotiate(ctx, agent, r, c.cfg.CallTimeout*4/5)
	})
}
