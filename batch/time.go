package batch

import "github.com/seed-9b8f70bb/drover/batch/plan/profile"

// Time is an instant in microseconds since the driver's epoch.
type Time = profile.Time

// Duration is a length of time in microseconds.
type Duration = profile.Duration

// Units and limits of time; see package profile, where they are at home because
// it imports nothing.
const (
	Microsecond = profile.Microsecond
	Millisecond = profile.Millisecond
	Second      = profile.Second
	Minute      = profile.Minute
	Hour        = profile.Hour
	Never       = profile.Never
	Forever     = profile.Forever
)
