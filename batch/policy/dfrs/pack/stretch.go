package pack

import (
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// aim sets the yields that bring all jobs to an inverse of the stretch by the end of
// a period. It is false if one of them would need more than 1.
func (t *plan) aim(jobs []Job, inverse batch.Share, period batch.Duration) bool {
	t.yields = t.yields[:0]
	for i := range jobs {
		y, ok := yieldFor(&jobs[i], inverse, period)
		if !ok {
			return false
		}
		t.yields = append(t.yields, y)
	}
	return true
}

// yieldFor solves (virtual + yield × period) / (flow + period) = inverse for the
// yield, rounded up.
func yieldFor(j *Job, inverse batch.Share, period batch.Duration) (batch.Share, bool) {
	high, low := bits.Mul64(uint64(inverse), uint64(j.Flow)+uint64(period))
	haveHigh, haveLow := bits.Mul64(uint64(batch.One), uint64(j.Virtual))
	low, borrow := bits.Sub64(low, haveLow, 0)
	high, borrow = bits.Sub64(high, haveHigh, borrow)
	if borrow > 0 {
		return 0, true // it is there already
	}
	low, carry := bits.Add64(low, uint64(period)-1, 0)
	high += carry
	if high >= uint64(period) {
		return 0, false
	}
	y, _ := bits.Div64(high, low, uint64(period))
	return batch.Share(min(y, uint64(batch.One))), y <= uint64(batch.One)
}
