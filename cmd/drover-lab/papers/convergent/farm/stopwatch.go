package farm

import (
	"slices"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// stopwatch measures what a policy takes. Its clock may be nil.
type stopwatch struct {
	batch.Policy
	clock func() time.Duration

	now   time.Duration   // of this instant so far
	plans []time.Duration // of all instants before
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
	s.plans = append(s.plans, s.now)
	s.now = 0
}

func (s *stopwatch) cost(c Case) Cost {
	cost := Cost{Case: c, Plans: len(s.plans)}
	if len(s.plans) == 0 {
		return cost
	}
	all := time.Duration(0)
	for _, d := range s.plans {
		all += d
	}
	cost.Seconds, cost.First = all.Seconds(), s.plans[0].Seconds()
	if later := slices.Sorted(slices.Values(s.plans[1:])); len(later) > 0 {
		cost.Median, cost.Longest = later[len(later)/2].Seconds(), later[len(later)-1].Seconds()
	}
	return cost
}
