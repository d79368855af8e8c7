package campaign

import (
	"fmt"
	"slices"
)

// What is left of a campaign by Quick.
const (
	quickDays        = 14
	quickExperiments = 100
)

// Quick returns a small part of a campaign, which is run in under a minute on two
// cores, and says what has been cut: one seed is left, the first days of each
// scenario, and of lists that are still too long the first values.
func (c *Campaign) Quick() (*Campaign, []string) {
	q := *c
	q.Days = quickDays
	cuts := []string{fmt.Sprintf("the first %d days of each scenario", q.Days)}
	lists := []cuttable{
		{"homogeneous", len(q.Homogeneous), func(n int) { q.Homogeneous = q.Homogeneous[:n] }},
		{"tunings", len(q.Tunings), func(n int) { q.Tunings = q.Tunings[:n] }},
		{"thresholds", len(q.Thresholds), func(n int) { q.Thresholds = q.Thresholds[:n] }},
		{"periods", len(q.Periods), func(n int) { q.Periods = q.Periods[:n] }},
		{"scenarios", len(q.Scenarios), func(n int) { q.Scenarios = q.Scenarios[:n] }},
		{"heuristics", len(q.Heuristics), func(n int) { q.Heuristics = q.Heuristics[:n] }},
		{"patience", len(q.Patience), func(n int) { q.Patience = q.Patience[:n] }},
		{"windows", len(q.Windows), func(n int) { q.Windows = q.Windows[:n] }},
		{"algorithms", len(q.Algorithms), func(n int) { q.Algorithms = q.Algorithms[:n] }},
		{"dedicated", len(q.Dedicated), func(n int) { q.Dedicated = q.Dedicated[:n] }},
	}
	if len(c.Seeds) > 1 {
		q.Seeds = c.Seeds[:1]
		cuts = append(cuts, fmt.Sprintf("1 of %d seeds", len(c.Seeds)))
	}
	whole := slices.Clone(lists)
	for q.count() > quickExperiments {
		// The longest one loses its last value; of equal ones the first.
		longest := &lists[0]
		for i := range lists {
			if lists[i].n > longest.n {
				longest = &lists[i]
			}
		}
		longest.n--
		longest.cut(longest.n)
	}
	for i := range lists {
		if n, of := lists[i].n, whole[i].n; n < of {
			cuts = append(cuts, fmt.Sprintf("%d of %d %s", n, of, lists[i].key))
		}
	}
	return &q, cuts
}

// cuttable is a list of a campaign.
type cuttable struct {
	key string
	n   int
	cut func(n int)
}
