package dynp

import "math/bits"

// wide is a saturating 128-bit integer: only sums of endless times overflow.
type wide struct{ hi, lo uint64 }

var highest = wide{^uint64(0), ^uint64(0)}

// product returns a×b.
func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

func (a wide) add(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, over := bits.Add64(a.hi, b.hi, carry)
	if over != 0 {
		return highest
	}
	return wide{hi, lo}
}

// sub returns a-b, and not less than 0.
func (a wide) sub(b wide) wide {
	if a.less(b) {
		return wide{}
	}
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return wide{hi, lo}
}

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a wide) times(n uint64) wide {
	over, hi := bits.Mul64(a.hi, n)
	if over != 0 {
		return highest
	}
	return product(a.lo, n).add(wide{hi, 0})
}

// over returns a/n, rounded down, and the remainder; n is not 0.
func (a wide) over(n uint64) (quotient wide, rest uint64) {
	hi, r := a.hi/n, a.hi%n
	lo, rest := bits.Div64(r, a.lo, n)
	return wide{hi, lo}, rest
}

// part returns a×n/of, rounded down, where n is not larger than of.
func (a wide) part(n, of uint64) wide {
	q, r := a.over(of)
	rest, _ := product(r, n).over(of)
	return q.times(n).add(rest)
}

// ratio returns a/b in units of 2^-20, rounded down; b is not 0. It drops low digits if
// both are too large.
func (a wide) ratio(b wide) wide {
	if b.hi != 0 {
		n := uint(bits.Len64(b.hi))
		a, b = a.shifted(n), b.shifted(n)
	}
	q, r := a.over(b.lo)
	rest, _ := product(r, one).over(b.lo)
	return q.times(one).add(rest)
}

// shifted returns a/2^n, for n from 1 to 64.
func (a wide) shifted(n uint) wide { return wide{a.hi >> n, a.lo>>n | a.hi<<(64-n)} }

func (a wide) float() float64 { return float64(a.hi)*(1<<64) + float64(a.lo) }
