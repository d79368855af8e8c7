package batch

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

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

// Area is processors times time, in processor-microseconds. It has 128 bits:
// the work of a large machine over years does not fit 64.
type Area struct{ hi, lo uint64 }

// AreaOf returns the area of a rectangle. Neither side is negative.
func AreaOf(processors int32, d Duration) Area {
	hi, lo := bits.Mul64(uint64(processors), uint64(d))
	return Area{hi, lo}
}

// Add returns a+b.
func (a Area) Add(b Area) Area {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return Area{hi, lo}
}

// Sub returns a-b, where b is not larger than a.
func (a Area) Sub(b Area) Area {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return Area{hi, lo}
}

// Less says whether a is smaller than b.
func (a Area) Less(b Area) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// Over returns how long so many processors, at least one, take for the area,
// rounded up.
func (a Area) Over(processors int32) Duration {
	by := uint64(processors)
	if a.hi >= by {
		return Forever
	}
	quo, rem := bits.Div64(a.hi, a.lo, by)
	if rem > 0 {
		quo++
	}
	return Duration(min(quo, uint64(Forever)))
}

// Seconds returns the area in processor-seconds.
func (a Area) Seconds() float64 {
	return (float64(a.hi)*(1<<64) + float64(a.lo)) / float64(Second)
}
