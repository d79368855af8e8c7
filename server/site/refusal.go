package site

import (
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Reasons of a Refusal: stable words that programs may branch on. Those of a
// catalogue.ArgumentError and catalogue.ShapeError are passed on.
const (
	ReasonUnknownService = "unknown-service"
	ReasonOutOfRange     = "out-of-range"
	ReasonBadValue       = "bad-value"
	ReasonTooWide        = "too-wide"
	ReasonTooLong        = "too-long"
	ReasonTooLate        = "too-late"
	ReasonNoMemory       = "no-memory"
	ReasonCannotRun      = "cannot-run"
	ReasonNoLicense      = "no-license"
	ReasonUnknownJob     = "unknown-job"
	ReasonJobConflict    = "job-conflict"
	ReasonStaleID        = "stale-id"
	ReasonWithdrawn      = "withdrawn"
	ReasonDraining       = "draining"
	ReasonStaleEpoch     = "stale-epoch"
	ReasonNotWaiting     = "not-waiting"
	ReasonNotMovable     = "not-movable"
	ReasonNoOffer        = "no-offer"
	ReasonNoPromise      = "no-promise"
	ReasonNoRoom         = "no-room"

	ReasonDependencyFailed = "dependency-failed"

	ReasonUnknownReservation  = "unknown-reservation"
	ReasonReservationOver     = "reservation-over"
	ReasonTooManyReservations = "too-many-reservations"
)

// Refusal says why a site does not do what it was asked.
type Refusal struct {
	Reason   string // one of the Reason constants
	Field    string // path into the message: "request.arguments.n"; empty for none
	Accepted string // what would have been accepted
	Hint     string // what a person could do; may be empty
	Offer    *Offer // what comes nearest and could be had; nil for nothing
	Err      error  // what was wrong, for people; a catalogue error where it was that
}

// Error says what was wrong and what would have been accepted.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

func refuse(reason, field, accepted, format string, a ...any) *Refusal {
	err := fmt.Errorf("%s: %s, accepted: %s", field, fmt.Sprintf(format, a...), accepted)
	return &Refusal{Reason: reason, Field: field, Accepted: accepted, Err: err}
}

// enough is how far away an instant has to be, in whole seconds, for what takes d from
// now: whoever is told so tries a moment later, so it is never d itself.
func enough(d batch.Duration) batch.Duration { return (d + 1).CeilSeconds() }

// refusalOf says which part of a request a catalogue's error is about.
func refusalOf(err error) *Refusal {
	var (
		service  *catalogue.UnknownService
		argument *catalogue.ArgumentError
		shape    *catalogue.ShapeError
		model    *catalogue.ModelError
	)
	r := &Refusal{Reason: ReasonBadValue, Field: "request", Err: err}
	switch {
	case errors.As(err, &service):
		r.Reason, r.Field, r.Hint = ReasonUnknownService, "request.service", "drover services lists what the grid offers"
		r.Accepted = "one of the site's services"
	case errors.As(err, &argument):
		r.Reason, r.Field, r.Accepted = argument.Reason, "request.arguments."+argument.Argument, argument.Accepted
	case errors.As(err, &shape):
		r.Reason, r.Field, r.Accepted = shape.Reason, "request."+shape.Field, shape.Accepted
	case errors.As(err, &model):
		r.Reason, r.Field, r.Accepted = ReasonOutOfRange, "request.arguments", "arguments for which the service's model has an answer"
	}
	return r
}
