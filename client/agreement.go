package client

import "time"

// Terms are what an agreement says beside its deadline.
type Terms struct {
	Value          float64 // of keeping it, at least 0
	Penalty        float64 // of breaking it, at least 0
	Checkpointable bool    // the job can be stopped and go on from where it was
}

// Agree makes a deadline an agreement: a site whose plan keeps it accepts the request,
// and all others refuse. Where nobody can, the error has ReasonNoOffer, with the
// earliest completion that anyone could promise, or ReasonNoPromise.
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

// Agreements counts what has become of a site's agreements since it is there.
type Agreements struct {
	Accepted     int64
	Kept         int64
	BrokenByUser int64
	BrokenBySite int64
	Void         int64
	Value        float64 // of those that were kept
	Penalty      float64 // of those that the site has broken
}

// Offer is a place in a plan that could be had. Durations count from the answer.
type Offer struct {
	Site       string
	Wait       time.Duration
	Completion time.Duration
	Width      int // processors
}
