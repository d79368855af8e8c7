package bound

import (
	"fmt"
	"math/bits"
)

// patience is the number of tests after which the search halves the remaining range
// instead of following the cuts. Weeks of real logs take five tests on average and nine at
// most; the limit ends a search in which every cut gains little.
const patience = 16

// mostArcs bounds the network of a busy period: 12 bytes each make 1.5 GiB.
const mostArcs = 1 << 27

// search finds the smallest possible stretch.
type search struct {
	in      instance
	windows *windows
	peel    peel
	cells   cells
	network network
	cut     cut
	tests   int // how many stretches were tried
}

func newSearch(in instance) *search {
	return &search{in: in, windows: newWindows(&in)}
}

// run returns the largest stretch known to be too small, or 1, and the smallest
// known to be possible.
func (s *search) run() (low, high int64, err error) {
	ok, err := s.possible(one)
	if ok || err != nil {
		return one, one, err
	}
	low, high = s.cut.last(&s.in, one), s.in.ceiling
	for high-low > 1 {
		try := low + 1
		if s.tests >= patience {
			try = low + (high-low)/2
		}
		ok, err := s.possible(try)
		switch {
		case err != nil:
			return 0, 0, err
		case ok:
			high = try
		default:
			low = s.cut.last(&s.in, try)
		}
	}
	return low, high, nil
}

// possible reports whether all jobs can keep the deadlines of a stretch. If not,
// the cut says why.
func (s *search) possible(stretch int64) (bool, error) {
	s.tests++
	s.windows.set(&s.in, stretch)
	s.peel.set(&s.in, s.windows)
	s.cells.set(&s.in, s.windows, &s.peel)
	return s.busy()
}

// busy reports whether the work of each busy period fits into its cells.
func (s *search) busy() (bool, error) {
	for rest := s.cells.spans; len(rest) > 0; {
		n, arcs, end := 0, 0, rest[0].last
		for ; n < len(rest) && rest[n].first < end; n++ {
			end = max(end, rest[n].last)
			arcs += int(rest[n].last - rest[n].first)
		}
		if arcs > mostArcs {
			return false, &RangeError{
				fmt.Sprintf("%d jobs at a time, with %d cells they may use in sum", n, arcs),
				fmt.Sprintf("up to %d cells", mostArcs),
			}
		}
		s.network.set(&s.in, &s.cells, rest[:n])
		rest = rest[n:]
		s.network.fill()
		if !s.network.place() {
			s.cut.set(s.windows, &s.cells, &s.network)
			return false, nil
		}
	}
	return true, nil
}

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
