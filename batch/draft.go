package batch

import "errors"

// ErrNoDrafts says that a batch system's plan cannot be copied.
var ErrNoDrafts = errors.New("the batch system's plan cannot be copied")

// Draft is a copy of a batch system's plan, made at one instant, at which its clock
// stands still: what would be there if these were submitted and those cancelled? It
// is independent: what is done to it changes nothing elsewhere, and nothing that
// happens elsewhere changes it. One goroutine at a time may use it, beside all that
// the system does.
type Draft interface {
	// Made returns the instant of the copy, on the system's clock.
	Made() Time
	// Estimate answers asks about jobs that would be submitted, as Policy.Estimate
	// does; now is the instant of the copy.
	Estimate(now Time, asks []Ask, out []Estimate) bool
	// Standing says where attempts wait, one element of out for each key. It returns
	// false when nobody can say.
	Standing(keys []Key, out []Standing) bool
	// Submit queues a job as the last one, under a key that names none of the copy's.
	// The job is the copy's from then on.
	Submit(key Key, job *Job)
	// Cancel takes an attempt out, and says whether it waited: a job may start in the
	// copy when another one is taken out.
	Cancel(key Key) bool
}

// Standing is where an attempt waits, as things stand.
type Standing struct {
	Waits bool // it is queued: neither held, reserved, started nor unknown
	Shape Shape
	Start Time // Never if it cannot start
	End   Time
	Kind  Kind
	P     float64 // of Probable
}
