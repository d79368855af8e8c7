package papers

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/fractional"
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
func newDFRSCell(rows []*fractional.Row) *dfrsCell {
	c := &dfrsCell{n: len(rows)}
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

// tenth writes a degradation as the paper does: 3,578.5.
func tenth(v float64) string { return grouped(strconv.FormatFloat(v, 'f', 1, 64)) }

// hundredth writes an occurrence or a bandwidth as the paper does: 1,005.48.
func hundredth(v float64) string { return grouped(strconv.FormatFloat(v, 'f', 2, 64)) }

// grouped writes the thousands of a number that is not below 0 apart.
func grouped(s string) string {
	digits, _, _ := strings.Cut(s, ".")
	for i := len(digits) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// times writes how many times something is: 1.02.
func times(ours, theirs float64) string {
	if theirs == 0 {
		return ""
	}
	return hundredth(ours / theirs)
}
