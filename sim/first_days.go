package sim

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// unspanned is how many jobs a day FirstDays leaves of a made workload whose length
// only the model knows.
const unspanned = 100

// FirstDays returns a scenario that has been validated, cut to its first days: of
// each trace the first of its part, and of each made workload as many jobs as come
// in that time on average. What is shorter stays as it is.
func (s *Scenario) FirstDays(days int) *Scenario {
	out := *s
	out.Sites = slices.Clone(s.Sites)
	most, text := batch.Duration(days)*day, fmt.Sprintf("%dd", days)
	for i := range out.Sites {
		g := &out.Sites[i]
		if length, err := ParseLength(g.Length); g.Trace != "" && err == nil && (g.Length == "" || length > most) {
			g.Length = text
		}
		if g.Lublin == nil {
			continue
		}
		l := *g.Lublin
		switch span, err := ParseLength(l.Span); {
		case l.Span == "":
			l.Jobs = min(l.Jobs, unspanned*days)
		case err == nil && span > most:
			l.Jobs = max(1, int(float64(l.Jobs)*(float64(most)/float64(span))))
			l.Span = text
		}
		g.Lublin = &l
	}
	return &out
}
