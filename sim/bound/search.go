package bound

// patience is after how many tests the search halves what is left instead of
// following the cuts. Weeks of real logs take five on average, nine at most; a
// cut that gains little each time must not make it endless.
const patience = 16

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
func (s *search) run() (low, high int64) {
	if s.possible(one) {
		return one, one
	}
	low, high = s.cut.last(&s.in, one), s.in.ceiling
	for high-low > 1 {
		try := low + 1
		if s.tests >= patience {
			try = low + (high-low)/2
		}
		if s.possible(try) {
			high = try
		} else {
			low = s.cut.last(&s.in, try)
		}
	}
	return low, high
}

// possible tells whether all jobs can keep the deadlines of a stretch. If not,
// the cut says why.
func (s *search) possible(stretch int64) bool {
	s.tests++
	s.windows.set(&s.in, stretch)
	s.peel.set(&s.in, s.windows)
	s.cells.set(&s.in, s.windows, &s.peel)
	return s.busy()
}

// busy tells whether the work of each busy period has place in its cells.
func (s *search) busy() bool {
	for rest := s.cells.spans; len(rest) > 0; {
		n, end := 1, rest[0].last
		for ; n < len(rest) && rest[n].first < end; n++ {
			end = max(end, rest[n].last)
		}
		s.network.set(&s.in, &s.cells, rest[:n])
		rest = rest[n:]
		s.network.fill()
		if !s.network.place() {
			s.cut.set(s.windows, &s.cells, &s.network)
			return false
		}
	}
	return true
}
