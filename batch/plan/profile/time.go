package profile

import (
	"math"
	"math/bits"
	"time"
)

// Time is an instant in microseconds since the driver's epoch: the Unix epoch
// on a live site, the first instant of the workload in a simulation.
type Time int64

// Duration is a length of time in microseconds.
type Duration int64

// The units a Duration is written in.
const (
	Microsecond Duration = 1
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)

// Never is later than every instant: the start of a job that cannot start, the end of
// one that does not end.
const Never Time = math.MaxInt64

// Forever is longer than every duration.
const Forever Duration = math.MaxInt64

// Add returns t+d, at most Never, so that steps and walltimes without end need no special
// case.
func (t Time) Add(d Duration) Time {
	if d > 0 && t > Never-Time(d) {
		return Never
	}
	return t + Time(d)
}

// Sub returns the time from u to t. Never is Forever away from everything.
func (t Time) Sub(u Time) Duration {
	if t == Never {
		return Forever
	}
	return Duration(t - u)
}

// Seconds returns d in seconds.
func (d Duration) Seconds() float64 { return float64(d) / float64(Second) }

// Std returns d as a time.Duration, at most the longest one.
func (d Duration) Std() time.Duration {
	if d > math.MaxInt64/1000 {
		return math.MaxInt64
	}
	return time.Duration(d) * time.Microsecond
}

// String formats d as package time does.
func (d Duration) String() string {
	if d == Forever {
		return "forever"
	}
	return d.Std().String()
}

// CeilSeconds rounds d up to a whole number of seconds.
func (d Duration) CeilSeconds() Duration {
	if d > Forever-Second {
		return Forever
	}
	return (d + Second - 1) / Second * Second
}

// Times returns d×num/den, exact and rounded up; Forever if that does not fit.
// None of the three is negative, and den is not 0.
func (d Duration) Times(num, den int64) Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(num))
	if hi >= uint64(den) {
		return Forever
	}
	q, r := bits.Div64(hi, lo, uint64(den))
	if q >= uint64(Forever) {
		return Forever
	}
	if r > 0 {
		q++
	}
	return Duration(q)
}
