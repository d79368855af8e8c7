package bound

import "fmt"

// patience is after how many tests the search halves what is left instead of
// following the cuts. Weeks of real logs take five on average, nine at most; a
// cut that gains little each time must not make it endless.
const patience = 16

// mostArcs bounds the network of a busy period: 12 bytes each make 1.5 GiB.
const mostArcs = 1 << 27

// search looks for the smallest stretch that is possible.
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

// possible tells whether all jobs can keep the deadlines of a stretch. If not,
// the cut says why.
func (s *search) possible(stretch int64) (bool, error) {
	s.tests++
	s.windows.set(&s.in, stretch)
	s.peel.set(&s.in, s.windows)
	s.cells.set(&s.in, s.windows, &s.peel)
	return s.busy()
}

// busy tells whether the work of each busy period has place in its cells.
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
