package farm

import (
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// stopwatch measures what a policy takes. Its clock may be nil.
type stopwatch struct {
	batch.Policy
	clock func() time.Duration

	now                 time.Duration // of this instant so far
	all, first, longest time.Duration
	plans               int
}

// Apply implements batch.Policy.
func (s *stopwatch) Apply(now batch.Time, ev *batch.Event) {
	defer s.begin()()
	s.Policy.Apply(now, ev)
}

// Decide implements batch.Policy.
func (s *stopwatch) Decide(now batch.Time, out *batch.Decisions) {
	defer s.begin()()
	s.Policy.Decide(now, out)
}

// begin begins to measure; what it returns ends it.
func (s *stopwatch) begin() func() {
	if s.clock == nil {
		return func() {}
	}
	from := s.clock()
	return func() { s.now += s.clock() - from }
}

// planned says that all is done for this instant.
func (s *stopwatch) planned() {
	s.plans++
	s.all += s.now
	if s.plans == 1 {
		s.first = s.now
	} else {
		s.longest = max(s.longest, s.now)
	}
	s.now = 0
}

func (s *stopwatch) cost(c Case) Cost {
	return Cost{Case: c, Seconds: s.all.Seconds(), First: s.first.Seconds(), Longest: s.longest.Seconds(), Plans: s.plans}
}
