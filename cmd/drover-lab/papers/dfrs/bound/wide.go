package bound

import "math/bits"

// wide is a whole number of 128 bits: work is a rate times a length, and a
// machine of 120 nodes in parts of 2^-20 busy for a year is beyond 64 bits.
type wide struct{ hi, lo uint64 }

// product returns a×b of two numbers that are not negative.
func product(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return wide{hi, lo}
}

func (a wide) add(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return wide{hi, lo}
}

// less returns a without n, which is not negative and at most a.
func (a wide) less(n int64) wide {
	lo, borrow := bits.Sub64(a.lo, uint64(n), 0)
	return wide{a.hi - borrow, lo}
}

func (a wide) above(b wide) bool { return a.hi > b.hi || a.hi == b.hi && a.lo > b.lo }

func (a wide) zero() bool { return a.hi == 0 && a.lo == 0 }

// most returns a or limit, whichever is smaller.
func (a wide) most(limit int64) int64 {
	if a.hi > 0 || a.lo > uint64(limit) {
		return limit
	}
	return int64(a.lo)
}

// over returns a/n rounded up; ok is false if a/n is 2^62 or more.
func (a wide) over(n int64) (quotient int64, ok bool) {
	if a.hi >= uint64(n) {
		return 0, false
	}
	q, rest := bits.Div64(a.hi, a.lo, uint64(n))
	if q >= 1<<62 {
		return 0, false
	}
	if rest > 0 {
		q++
	}
	return int64(q), true
}
