package reallocation

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// study is the rows, looked at by the plan.
type study struct {
	rows    *Rows
	plan    Plan
	lacking int
	remark  string
}

// of returns the rows of a couple on a scenario, by seed.
func (s *study) of(dedicated bool, scenario string, c couple) []*Row {
	var out []*Row
	for _, seed := range s.plan.Seeds {
		if r := s.rows.index[Key{
			Scenario: scenario, Dedicated: dedicated, Tuning: s.plan.Tuning, Seed: seed,
			Way: c.way(),
		}]; r != nil {
			out = append(out, r)
		}
	}
	return out
}

// all returns the rows of couples on all scenarios.
func (s *study) all(dedicated bool, of ...couple) []*Row {
	var out []*Row
	for _, scenario := range s.plan.Scenarios {
		for _, c := range of {
			out = append(out, s.of(dedicated, scenario, c)...)
		}
	}
	return out
}

// pair is a metric of two experiments that differ in one thing.
type pair struct{ a, b float64 }

// paired returns the pairs of two couples, over all scenarios and seeds.
func (s *study) paired(dedicated bool, a, b couple, m *metric) []pair {
	var out []pair
	for _, scenario := range s.plan.Scenarios {
		for _, ra := range s.of(dedicated, scenario, a) {
			key := ra.Key
			key.Way = b.way()
			out = s.rows.pair(out, ra, key, m)
		}
	}
	return out
}

// pair appends the pair of a row with the row of a key, if there is one.
func (r *Rows) pair(to []pair, a *Row, b Key, m *metric) []pair {
	other := r.index[b]
	if other == nil {
		return to
	}
	if va, vb := m.of(a), m.of(other); va.defined && vb.defined {
		return append(to, pair{va.value, vb.value})
	}
	return to
}

// note says of a figure which experiments it shows.
func (s *study) note(boxes [][]chart.Box) string {
	text := experiments(boxes) + "; " + s.plan.Tuning + " tuning, a round an hour, window 20, threshold 60 s"
	if s.lacking > 0 {
		text = fmt.Sprintf("PARTIAL, %d of %d lack: %s", s.lacking, len(s.plan.experiments()), text)
	}
	return s.remarked(text)
}

// remarked says before a text what is special about all rows.
func (s *study) remarked(text string) string {
	if s.remark == "" {
		return text
	}
	return s.remark + ": " + text
}

// experiments counts them: in all, and to a box.
func experiments(boxes [][]chart.Box) string {
	total, least, greatest := 0, -1, 0
	for _, row := range boxes {
		for _, b := range row {
			total, greatest = total+b.N, max(greatest, b.N)
			if least < 0 || b.N < least {
				least = b.N
			}
		}
	}
	if least < greatest {
		return fmt.Sprintf("%d experiments, %d to %d to a box", total, least, greatest)
	}
	return fmt.Sprintf("%d experiments, %d to a box", total, greatest)
}
