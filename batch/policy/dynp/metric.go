package dynp

import (
	"maps"
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// one is the unit of slowdowns, 2^20.
const one = 1 << 20

// metric measures plans. For all plans of a step the divisor is the same, so the
// sums alone are compared.
type metric struct {
	// term is the summand of a job with a response time in microseconds.
	term func(t *task, response uint64) wide
	// weight is the job's summand of the divisor, and unit scales the quotient for
	// display.
	weight func(t *task) wide
	unit   float64
	// peak replaces the sum of responses by the latest completion, from now on.
	peak bool
}

// metrics are equations 1 and 3 to 8 of the paper, by its names. That SLDwA is
// ARTwW×sum of widths/sum of areas is its equation 2: of one set of jobs both rank
// plans alike, and here they have the same terms.
var metrics = map[string]*metric{
	"ART":   {term: response, weight: each, unit: seconds},
	"ARTwA": {term: func(t *task, r uint64) wide { return t.area().times(r) }, weight: (*task).area, unit: seconds},
	"ARTwW": {term: byWidth, weight: width, unit: seconds},
	"SLD":   {term: slowdown, weight: each, unit: one},
	"SLDwA": {term: byWidth, weight: (*task).area, unit: 1},
	"SLDwW": {
		term: func(t *task, r uint64) wide { return slowdown(t, r).times(uint64(t.shape.Width)) }, weight: width,
		unit: one,
	},
	"makespan": {term: response, weight: each, unit: seconds, peak: true},
}

// Metrics returns the names of all metrics.
func Metrics() []string { return slices.Sorted(maps.Keys(metrics)) }

const seconds = float64(batch.Second)

func response(_ *task, r uint64) wide { return wide{0, r} }

func byWidth(t *task, r uint64) wide { return product(uint64(t.shape.Width), r) }

func slowdown(t *task, r uint64) wide {
	q, _ := product(r, one).over(uint64(max(t.shape.Walltime, 1)))
	return q
}

func each(*task) wide { return wide{0, 1} }

func width(t *task) wide { return wide{0, uint64(t.shape.Width)} }

func (t *task) area() wide { return product(uint64(t.shape.Width), uint64(t.shape.Walltime)) }

// of returns the summand of a job with the given planned start.
func (m *metric) of(now batch.Time, t *task, start batch.Time) wide {
	end := start.Add(t.shape.Walltime)
	since := t.arrival
	if m.peak {
		since = now
	}
	return m.term(t, uint64(end.Sub(since)))
}

// with adds a term to a sum.
func (m *metric) with(sum, term wide) wide {
	if !m.peak {
		return sum.add(term)
	}
	if sum.less(term) {
		return term
	}
	return sum
}

// weighted is a metric and its share of an objective, in percent.
type weighted struct {
	name string
	*metric
	percent uint64
}

// objective compares plans by one metric or a weighted mix. Metrics have different units,
// so each counts as a ratio to its least value among the plans.
type objective []weighted
