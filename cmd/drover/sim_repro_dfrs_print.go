package main

import (
	"fmt"
	"math"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/fractional"
)

// dfrsSum sums up the rows of one set, algorithm and period.
type dfrsSum struct {
	set, algorithm string
	period         batch.Duration

	n                    int
	sum, squares, most   float64 // of the degradation from bound
	under                float64
	preempted, migrated  float64 // an hour
	preemptedGB, movedGB float64 // a second
}

// dfrsSums returns sums in the order in which their first rows stand.
func dfrsSums(rows []fractional.Row) []*dfrsSum {
	var all []*dfrsSum
	for i := range rows {
		r := &rows[i]
		var s *dfrsSum
		for _, o := range all {
			if o.set == r.Set && o.algorithm == r.Algorithm && o.period == r.Period {
				s = o
			}
		}
		if s == nil {
			s = &dfrsSum{set: r.Set, algorithm: r.Algorithm, period: r.Period}
			all = append(all, s)
		}
		s.add(r)
	}
	return all
}

func (s *dfrsSum) add(r *fractional.Row) {
	d := r.Degradation()
	s.n++
	s.sum += d
	s.squares += d * d
	s.most = max(s.most, d)
	s.under += r.Underutilization()
	preempted, migrated := r.PerHour()
	s.preempted, s.migrated = s.preempted+preempted, s.migrated+migrated
	preempted, migrated = r.Bandwidth()
	s.preemptedGB, s.movedGB = s.preemptedGB+preempted, s.movedGB+migrated
}

// deviation returns the standard deviation of the degradation.
func (s *dfrsSum) deviation() float64 {
	n := float64(s.n)
	return math.Sqrt(max(0, s.squares/n-s.sum/n*s.sum/n))
}

// print prints a line for each set, algorithm and period.
func (c *simReproDFRSCmd) print(a *app, rows []fractional.Row) error {
	columns := []string{"period", "runs", "degradation", "std.", "max", "underutilization", "preemptions/h", "migrations/h", "GB/s", "GB/s"}
	t := newTable(a.stdout, row("set", "algorithm", columns...), columns...)
	for _, s := range dfrsSums(rows) {
		n := float64(s.n)
		period := ""
		if s.period > 0 {
			period = s.period.String()
		}
		t.AppendRow(row(s.set, s.algorithm, period, fmt.Sprint(s.n),
			fmt.Sprintf("%.1f", s.sum/n), fmt.Sprintf("%.1f", s.deviation()), fmt.Sprintf("%.1f", s.most), fmt.Sprintf("%.3f", s.under/n),
			fmt.Sprintf("%.2f", s.preempted/n), fmt.Sprintf("%.2f", s.migrated/n), fmt.Sprintf("%.2f", s.preemptedGB/n), fmt.Sprintf("%.2f", s.movedGB/n)))
	}
	t.Render()
	_, err := fmt.Fprintf(a.stdout, "%d rows in %s\n", len(rows), c.Results)
	return err
}
