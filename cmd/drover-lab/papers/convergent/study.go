package convergent

import (
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// key is a case but for its seed.
type key struct {
	set, algorithm string
	arrival        int
	ratio          farm.Range
	reading        farm.Reading
	rate           int64
	machines, jobs int // of the set growth
}

// farmCell has what the seeds of a key came to, by rising seed.
type farmCell struct {
	rows  []*farm.Row
	costs []*farm.Cost
}

// study is what the rows say.
type study struct {
	cells map[key]*farmCell
}

// quickPart is what a quick plan divides farms by; it has so much more time between
// submissions.
const quickPart = 5

func keyOf(c *farm.Case, quick bool) key {
	k := key{set: c.Set, algorithm: c.Algorithm, arrival: c.Arrival, reading: c.Reading, rate: c.Rate}
	switch c.Set {
	case farm.Knapsacks:
		k.ratio, k.arrival = c.Ratio, 0
	case farm.Growth:
		k.machines, k.jobs, k.arrival = c.Machines, c.Jobs, 0
	default:
		if quick {
			k.arrival /= quickPart
		}
	}
	return k
}

func newStudy(rows []farm.Row, costs []farm.Cost, quick bool) (*study, error) {
	if len(rows) != len(costs) {
		return nil, fmt.Errorf("%d rows and %d costs, accepted: as many", len(rows), len(costs))
	}
	s := &study{cells: map[key]*farmCell{}}
	for i := range rows {
		if rows[i].Case != costs[i].Case {
			return nil, fmt.Errorf("row %d and its cost are of two cases: %+v, %+v", i, rows[i].Case, costs[i].Case)
		}
		k := keyOf(&rows[i].Case, quick)
		c := s.cells[k]
		if c == nil {
			c = &farmCell{}
			s.cells[k] = c
		}
		c.rows, c.costs = append(c.rows, &rows[i]), append(c.costs, &costs[i])
	}
	for _, c := range s.cells {
		slices.SortFunc(c.rows, func(a, b *farm.Row) int { return a.Compare(&b.Case) })
		slices.SortFunc(c.costs, func(a, b *farm.Cost) int { return a.Compare(&b.Case) })
	}
	return s, nil
}

// measure is a figure of a row.
type measure func(*farm.Row) float64

var (
	lateJobs      measure = (*farm.Row).LatePercent
	hopelessJobs  measure = (*farm.Row).HopelessPercent
	undatedSlow   measure = func(r *farm.Row) float64 { return r.Slowdown }
	machinesBusy  measure = func(r *farm.Row) float64 { return 100 * r.MachineUsage }
	licensesInUse measure = func(r *farm.Row) float64 { return 100 * r.LicenseUsage }
	preempted     measure = func(r *farm.Row) float64 { return float64(r.Preemptions) }
)

// farmCost is a figure of what a row took, in milliseconds.
type farmCost func(*farm.Cost) float64

var (
	meanPlan    farmCost = func(c *farm.Cost) float64 { return 1000 * c.Plan() }
	medianPlan  farmCost = func(c *farm.Cost) float64 { return 1000 * c.Median }
	longestPlan farmCost = func(c *farm.Cost) float64 { return 1000 * c.Longest }
	firstPlan   farmCost = func(c *farm.Cost) float64 { return 1000 * c.First }
)

// atLoads is the key of an algorithm in the paper's figures 3 to 7.
func atLoads(algorithm string, arrival int) key {
	return key{set: farm.Loads, algorithm: algorithm, arrival: arrival, reading: farm.Percent}
}

// of returns the mean of a figure over all seeds, false if there are none.
func (s *study) of(k key, m measure) (float64, bool) {
	c := s.cells[k]
	if c == nil {
		return 0, false
	}
	return papers.Mean(papers.Each(c.rows, m)), true
}

func (s *study) took(k key, m farmCost) (float64, bool) {
	c := s.cells[k]
	if c == nil {
		return 0, false
	}
	return papers.Mean(papers.Each(c.costs, m)), true
}

// both returns a figure of two keys on the seeds that both have: the means.
func (s *study) both(a, b key, m measure) (x, y float64, ok bool) {
	c, d := s.cells[a], s.cells[b]
	if c == nil || d == nil {
		return 0, 0, false
	}
	var left, right []float64
	for _, r := range c.rows {
		k := slices.IndexFunc(d.rows, func(o *farm.Row) bool { return o.Seed == r.Seed })
		if k >= 0 {
			left, right = append(left, m(r)), append(right, m(d.rows[k]))
		}
	}
	if len(left) == 0 {
		return 0, 0, false
	}
	return papers.Mean(left), papers.Mean(right), true
}

// arrivals returns those of an algorithm's rows, rising: the loads from the heaviest on.
func (s *study) arrivals(set string) []int {
	var all []int
	for k := range s.cells {
		if k.set == set && !slices.Contains(all, k.arrival) {
			all = append(all, k.arrival)
		}
	}
	slices.Sort(all)
	return all
}

// workload returns the mean number of jobs in the system at each sample.
func (s *study) workload(k key) []float64 {
	c := s.cells[k]
	if c == nil {
		return nil
	}
	var sum []float64
	for _, r := range c.rows {
		for i, n := range r.Workload {
			if i == len(sum) {
				sum = append(sum, 0)
			}
			sum[i] += float64(n) / float64(len(c.rows))
		}
	}
	return sum
}
