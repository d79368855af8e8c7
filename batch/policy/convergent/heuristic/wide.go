package heuristic

import "math/bits"

// wide is an unsigned integer of 128 bits.
type wide struct{ hi, lo uint64 }

// product returns a·b.
func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

// times returns w·k, which must fit.
func (w wide) times(k uint64) wide {
	p := product(w.lo, k)
	p.hi += w.hi * k
	return p
}

// over returns w/k, rounded down.
func (w wide) over(k uint64) wide {
	lo, _ := bits.Div64(w.hi%k, w.lo, k)
	return wide{w.hi / k, lo}
}

// minus returns w-v, which must not be negative.
func (w wide) minus(v wide) wide {
	lo, borrow := bits.Sub64(w.lo, v.lo, 0)
	return wide{w.hi - v.hi - borrow, lo}
}

// less reports whether w < v.
func (w wide) less(v wide) bool {
	return w.hi < v.hi || w.hi == v.hi && w.lo < v.lo
}

// bits returns the bit length of w.
func (w wide) bits() int {
	if w.hi > 0 {
		return 64 + bits.Len64(w.hi)
	}
	return bits.Len64(w.lo)
}

// half returns w / 2^n, rounded down; for a negative n it returns w·2^-n, which must fit.
func (w wide) half(n int) wide {
	switch {
	case n <= 0:
		return wide{w.hi<<-n | w.lo>>(64+n), w.lo << -n}
	case n >= 64:
		return wide{0, w.hi >> (n - 64)}
	}
	return wide{w.hi >> n, w.lo>>n | w.hi<<(64-n)}
}
