package dfrs

import (
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// figureStudy has cells as the paper's text describes its figures; change alters one.
func figureStudy(change func(k key, c *cell)) *study {
	s := &study{cells: map[key]*cell{}, instances: map[setPart]int{}}
	add := func(set string, part int, algorithm string, period batch.Duration, m measure, v float64) {
		k := key{set, part, algorithm, periodOf(algorithm, period)}
		if s.cells[k] == nil {
			s.cells[k] = &cell{}
		}
		s.cells[k].stats[m].avg = v
	}
	for load := 1; load < heavy; load++ {
		for i, a := range figureOne() {
			add(fractional.Scaled, load, a, tablePeriod, degradation, 20+float64(i))
		}
		add(fractional.Scaled, load, recommended, tablePeriod, degradation, 2.5+float64(load)/2)
		add(fractional.Scaled, load, "GreedyPM*/opt=min", tablePeriod, degradation, float64(load*load)*5)
	}
	for _, set := range allSets {
		add(set, whole, fractional.EASY, tablePeriod, degradation, 3000)
		add(set, whole, fractional.EASY, tablePeriod, underused, 0.35)
		for i, p := range []batch.Duration{
			tablePeriod, 900 * batch.Second, 1200 * batch.Second, recommendedPeriod,
			lastPeriod, 2 * lastPeriod,
		} {
			add(set, whole, recommended, p, degradation, 7+float64(i)/2)
			add(set, whole, recommended, p, underused, []float64{0.5, 0.4, 0.3, 0.2, 0.15, 0.9}[i])
		}
	}
	add(fractional.HPC2N, whole, fractional.EASY, tablePeriod, underused, 0.065)
	add(fractional.HPC2N, whole, recommended, lastPeriod, underused, 0.118)
	add(fractional.Whole, whole, fractional.EASY, tablePeriod, underused, 0.08)
	add(fractional.Whole, whole, recommended, tablePeriod, underused, 0.1)
	add(fractional.Scaled, heavy, recommended, tablePeriod, movedGB, 0.8)
	add(fractional.Scaled, heavy, recommended, hourPeriod, movedGB, 0.19)
	for k, c := range s.cells {
		change(k, c)
	}
	return s
}

func TestClaimsAboutFiguresHoldAndDiffer(t *testing.T) {
	at := func(set string, part int, algorithm string, period batch.Duration, m measure, v float64) func(key, *cell) {
		return func(k key, c *cell) {
			if k == (key{set, part, algorithm, periodOf(algorithm, period)}) {
				c.stats[m].avg = v
			}
		}
	}
	own := func(set string, period batch.Duration, m measure, v float64) func(key, *cell) {
		return at(set, whole, recommended, period, m, v)
	}
	for id, changes := range map[string][]func(key, *cell){
		"low-load": {
			at(fractional.Scaled, 1, "GreedyPM*/opt=min", 0, degradation, 99),
			at(fractional.Scaled, 6, "GreedyPM*/opt=min", 0, degradation, 19),
		},
		"every-load": {at(fractional.Scaled, 4, recommended, tablePeriod, degradation, 20.5)},
		"load-factor": {
			at(fractional.Scaled, 1, recommended, tablePeriod, degradation, 4.6),
			at(fractional.Scaled, 9, recommended, tablePeriod, degradation, 4.9),
		},
		"underuse-whole": {
			at(fractional.Whole, whole, fractional.EASY, 0, underused, 0.095),
			own(fractional.Whole, tablePeriod, underused, 0.12),
		},
		"period-falls":     {own(fractional.Unscaled, recommendedPeriod, underused, 0.31)},
		"period-synthetic": {own(fractional.Scaled, 1200*batch.Second, underused, 0.36)},
		"period-real":      {own(fractional.HPC2N, lastPeriod, underused, 0.06)},
		"plateau":          {own(fractional.HPC2N, lastPeriod, underused, 0.09)},
		"period-stretch": {
			own(fractional.Unscaled, lastPeriod, degradation, 11),
			own(fractional.HPC2N, lastPeriod, degradation, 14.5), own(fractional.Scaled, lastPeriod, degradation, 22),
		},
		"period-orders": {own(fractional.HPC2N, lastPeriod, degradation, 31)},
		"hour-bandwidth": {
			at(fractional.Scaled, heavy, recommended, hourPeriod, movedGB, 0.21),
			at(fractional.Scaled, heavy, recommended, hourPeriod, movedGB, 0.1),
		},
	} {
		all := Claims()
		c := all[slices.IndexFunc(all, func(c papers.Claim[*study]) bool { return c.ID == id })]
		if f := c.Check(figureStudy(func(key, *cell) {})); f.Verdict != papers.Holds {
			t.Errorf("%s: %s, want holds; %s", id, f.Verdict, f.Measured)
		}
		for i, change := range changes {
			if f := c.Check(figureStudy(change)); f.Verdict != papers.Differs {
				t.Errorf("%s, change %d: %s, want differs; %s", id, i, f.Verdict, f.Measured)
			}
		}
	}
}

// Periods beyond the figures', and those of other sets, say nothing; a cell that lacks
// leaves a claim open.
func TestClaimsAboutPeriodsNeedTheFirstAndTheLast(t *testing.T) {
	s := figureStudy(func(key, *cell) {})
	delete(s.cells, key{fractional.Scaled, whole, recommended, lastPeriod})
	for _, c := range Claims() {
		if c.ID != "period-stretch" && c.ID != "period-falls" && c.ID != "period-synthetic" && c.ID != "period-orders" {
			continue
		}
		if f := c.Check(s); f.Verdict != papers.Open {
			t.Errorf("%s: %s; %s", c.ID, f.Verdict, f.Measured)
		}
	}
}
