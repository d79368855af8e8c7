package client

import (
	"time"

	"github.com/seed-9b8f70bb/drover/client/rpc"
)

// Terms are what an agreement says beside its deadline.
type Terms struct {
	Value          float64 `proto:"value"`          // of keeping it, at least 0
	Penalty        float64 `proto:"penalty"`        // of breaking it, at least 0
	Checkpointable bool    `proto:"checkpointable"` // the job can be stopped and continue later
}

// MarshalJSON returns the JSON of a drover.v1.Agreement.
func (t Terms) MarshalJSON() ([]byte, error) { return rpc.JSON("Agreement", t) }

// Agree makes a deadline an agreement: a site whose plan keeps it accepts the request,
// and all others refuse. Where nobody can, the error has problem.NoOffer, with the
// earliest completion that anyone could promise, or problem.NoPromise.
func Agree(deadline time.Time, t Terms) Arg {
	return func(r *request) { r.deadline, r.terms = deadline, &t }
}

// Into has the job run in a reservation, by its ID: at the site of that, and nowhere
// else.
func Into(reservation string) Arg { return func(r *request) { r.into = reservation } }

// AgreementState is what has become of an agreement.
type AgreementState string

// The states of an agreement.
const (
	AgreementOpen         AgreementState = "open"           // the job has not ended
	AgreementKept         AgreementState = "kept"           // completed by the deadline
	AgreementBrokenByUser AgreementState = "broken-by-user" // it outran its estimate, or failed by itself
	AgreementBrokenBySite AgreementState = "broken-by-site"
	AgreementVoid         AgreementState = "void" // the job was cancelled
)
