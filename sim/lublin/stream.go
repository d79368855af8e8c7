package lublin

// stream is a class of jobs, and when its next one comes.
type stream struct {
	params   *parameters
	widths   widths
	runtimes runtimes
	gaps     gamma
	cycle    cycle

	// The next arrival, in seconds since the midnight at which all begins.
	even, clock float64
	last        float64 // even time of the latest arrival that was taken
}

func newStream(p *parameters, procs int) *stream {
	return &stream{
		params: p, widths: fit(p, procs), runtimes: newRuntimes(p),
		gaps: newGamma(float64(p.gapShape*p.ratio), p.gapScale), cycle: newCycle(p),
	}
}

// advance draws the next arrival.
func (s *stream) advance(r *random) {
	s.last = s.even
	s.even += exp(s.gaps.below(r, maxLogGap))
	s.clock = s.cycle.clockAt(s.even)
}

// earliest returns the index of the stream whose next job comes first.
func earliest(streams []*stream) int {
	first := 0
	for i, s := range streams {
		if s.clock < streams[first].clock {
			first = i
		}
	}
	return first
}
