package convergent

import (
	"math"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// What the paper has as numbers: G. Capannini, R. Baraglia, D. Puppini, L. Ricci,
// M. Pasquali, "A Job Scheduling Framework for Large Computing Farms", SC07, table 1. Of
// its figures only what its text says is known.

// paperKnapsack is one side of a row of table 1: milliseconds, and license usage.
type paperKnapsack struct{ time, smallest, mean, best float64 }

// paperTable1 has branch and bound, and the greedy, by license ratio.
var paperTable1 = []struct {
	ratio         farm.Range
	exact, greedy paperKnapsack
}{
	{farm.Range{Low: 40, High: 45}, paperKnapsack{496.53, 0.57, 0.87, 1}, paperKnapsack{11.23, 0.54, 0.82, 1}},
	{farm.Range{Low: 45, High: 50}, paperKnapsack{353.51, 0.62, 0.88, 1}, paperKnapsack{10.40, 0.59, 0.84, 1}},
	{farm.Range{Low: 50, High: 55}, paperKnapsack{331.28, 0.64, 0.89, 1}, paperKnapsack{10.42, 0.62, 0.87, 1}},
	{farm.Range{Low: 55, High: 60}, paperKnapsack{556.96, 0.64, 0.88, 1}, paperKnapsack{11.90, 0.63, 0.87, 1}},
}

// knapsackLine is a row of table 1, ours: over all instants of all seeds.
type knapsackLine struct {
	seeds, calls, proven int
	exact, greedy        paperKnapsack
	value, worst, bound  float64 // greedy over exact, its least, and exact over its bound
}

// knapsacks sums up the rows of a license ratio; false if there are none.
func (s *study) knapsacks(ratio farm.Range) (knapsackLine, bool) {
	c := s.cells[key{set: farm.Knapsacks, algorithm: farm.Algorithms[0], ratio: ratio, reading: farm.Percent}]
	l := knapsackLine{worst: math.Inf(1)}
	l.exact.smallest, l.greedy.smallest = math.Inf(1), math.Inf(1)
	if c == nil {
		return l, false
	}
	for i, r := range c.rows {
		k := r.Knapsacks
		if k == nil || k.Calls == 0 {
			continue
		}
		n := float64(k.Calls)
		l.seeds++
		l.calls += k.Calls
		l.proven += k.Proven
		l.exact.add(&k.Exact, n, c.costs[i].Exact)
		l.greedy.add(&k.Greedy, n, c.costs[i].Greedy)
		l.value += n * k.Value
		l.bound += n * k.Bound
		l.worst = min(l.worst, k.Worst)
	}
	if l.calls == 0 {
		return l, false
	}
	n := float64(l.calls)
	l.exact.over(n)
	l.greedy.over(n)
	l.value /= n
	l.bound /= n
	return l, true
}

func (p *paperKnapsack) add(u *farm.Usage, calls, seconds float64) {
	p.time += 1000 * seconds
	p.smallest, p.best = min(p.smallest, u.Smallest), max(p.best, u.Best)
	p.mean += calls * u.Mean
}

func (p *paperKnapsack) over(calls float64) {
	p.time /= calls
	p.mean /= calls
}

// distance is how much less the greedy uses, in parts of the exact one's usage.
func (l *knapsackLine) distance() float64 { return 1 - l.greedy.mean/l.exact.mean }

// knapsackLines returns those of all ratios; false if one lacks.
func (s *study) knapsackLines() ([]knapsackLine, bool) {
	var all []knapsackLine
	for i := range paperTable1 {
		l, ok := s.knapsacks(paperTable1[i].ratio)
		if !ok {
			return nil, false
		}
		all = append(all, l)
	}
	return all, true
}
