package runtimes

import (
	"math"
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Ratio is runtime over estimate, in units of 2^-20.
type Ratio int32

// One is the ratio of a job that ran as long as estimated. Longest is the highest ratio;
// higher ones are cut to it.
const (
	One     Ratio = 1 << 20
	Longest Ratio = math.MaxInt32
)

// RatioOf returns runtime/estimate, rounded up. An estimate below 1 counts as 1.
func RatioOf(runtime, estimate batch.Duration) Ratio {
	if runtime <= 0 {
		return 0
	}
	e := uint64(max(estimate, 1))
	hi, lo := bits.Mul64(uint64(runtime), uint64(One))
	if hi >= e {
		return Longest
	}
	q, r := bits.Div64(hi, lo, e)
	if r > 0 {
		q++
	}
	return Ratio(min(q, uint64(Longest)))
}

// Of returns the ratio times a duration, rounded up; Forever if that does not fit.
func (r Ratio) Of(d batch.Duration) batch.Duration {
	hi, lo := bits.Mul64(uint64(d), uint64(r))
	lo, carry := bits.Add64(lo, uint64(One)-1, 0)
	hi += carry
	if hi >= 1<<19 { // beyond 63 bits
		return batch.Forever
	}
	return batch.Duration(hi<<44 | lo>>20)
}

// Chance is a probability in millionths, so that a decimal such as 0.13 is exact.
type Chance int32

// Certain is probability 1.
const Certain Chance = 1_000_000
