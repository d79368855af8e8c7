package batch

import "errors"

// ErrNoDrafts says that a batch system's plan cannot be copied.
var ErrNoDrafts = errors.New("the batch system's plan cannot be copied")

// Draft is a copy of a batch system's plan for what-if questions: where would jobs
// run if these were submitted and those cancelled? Its clock stands still at the
// instant of the copy. The copy and the system do not affect each other. One
// goroutine at a time may use a draft, concurrently with the system.
type Draft interface {
	// Made returns the instant of the copy on the system's clock.
	Made() Time
	// Estimate answers asks about new jobs, as Policy.Estimate does; now is the instant
	// of the copy.
	Estimate(now Time, asks []Ask, out []Estimate) bool
	// Standing fills out with the planned slot of each waiting attempt. It returns false
	// when the plan cannot tell.
	Standing(keys []Key, out []Standing) bool
	// Submit queues a job last, under a key that is not in the copy. The draft owns the
	// job from then on.
	Submit(key Key, job *Job)
	// Cancel removes an attempt and reports whether it was waiting: a job can start in
	// the copy when another one is removed.
	Cancel(key Key) bool
}

// Standing is the slot of a waiting attempt in the current plan.
type Standing struct {
	Waits bool // queued: neither held, reserved, started nor unknown
	Shape Shape
	Start Time // Never if it cannot start
	End   Time
	Kind  Kind
	P     float64 // of Probable
}
