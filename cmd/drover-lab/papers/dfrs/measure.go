package dfrs

import (
	"math"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// measure is a figure of a row.
type measure int

// The measures. Bandwidth is in GB a second.
const (
	degradation measure = iota
	meanStretch
	underused
	preemptedGB
	migratedGB
	movedGB // both
	preemptedHour
	migratedHour
	preemptedJob
	migratedJob
	measureCount
)

func measured(r *fractional.Row) (v [measureCount]float64) {
	v[degradation], v[meanStretch], v[underused] = r.Degradation(), r.MeanStretch, r.Underutilization()
	v[preemptedGB], v[migratedGB] = r.Bandwidth()
	v[movedGB] = v[preemptedGB] + v[migratedGB]
	v[preemptedHour], v[migratedHour] = r.PerHour()
	v[preemptedJob], v[migratedJob] = r.PerJob()
	return v
}

// stat sums up a figure over instances.
type stat struct {
	avg, std, max float64
}

// newDFRSCell takes the standard deviation of a sample: the squares are divided by n-1.
func newCell(rows []*fractional.Row) *cell {
	c := &cell{n: len(rows)}
	n := float64(len(rows))
	for i, r := range rows {
		for m, v := range measured(r) {
			s := &c.stats[m]
			s.avg += v / n
			if i == 0 || v > s.max {
				s.max = v
			}
		}
	}
	if len(rows) < 2 {
		return c
	}
	for _, r := range rows {
		for m, v := range measured(r) {
			d := v - c.stats[m].avg
			c.stats[m].std += d * d / (n - 1)
		}
	}
	for m := range c.stats {
		c.stats[m].std = math.Sqrt(c.stats[m].std)
	}
	return c
}
