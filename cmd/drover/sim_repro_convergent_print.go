package main

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/farm"
)

// print prints a line for each case, as the mean of its seeds.
func (c *simReproConvergentCmd) print(a *app, rows []farm.Row, costs []farm.Cost) error {
	columns := []string{"machines", "jobs", "inter-arrival", "runs", "late %", "hopeless %", "slowdown", "machines %", "licenses %", "preemptions", "ms a plan", "median"}
	t := newTable(a.stdout, row("set", "algorithm", columns...), columns...)
	for i := 0; i < len(rows); {
		n := alike(rows[i:])
		var late, hopeless, slowdown, machines, licenses, preempted, plan, median float64
		for k := i; k < i+n; k++ {
			r := &rows[k]
			late, hopeless = late+r.LatePercent(), hopeless+r.HopelessPercent()
			slowdown += r.Slowdown
			machines, licenses = machines+100*r.MachineUsage, licenses+100*r.LicenseUsage
			preempted += float64(r.Preemptions)
			plan, median = plan+1000*costs[k].Plan(), median+1000*costs[k].Median
		}
		r, of := &rows[i], float64(n)
		mean := func(digits int, sum float64) string { return fmt.Sprintf("%.*f", digits, sum/of) }
		t.AppendRow(row(variant(&r.Case), r.Algorithm, fmt.Sprint(r.Machines), fmt.Sprint(r.Case.Jobs), fmt.Sprint(r.Arrival), fmt.Sprint(n),
			mean(1, late), mean(1, hopeless), mean(2, slowdown), mean(1, machines), mean(1, licenses), mean(0, preempted), mean(3, plan), mean(3, median)))
		i += n
	}
	t.Render()
	_, err := fmt.Fprintf(a.stdout, "%d rows in %s\n", len(rows), c.Results)
	return err
}

// alike returns how many of the first rows are of one case but for the seed. Rows are in
// order.
func alike(rows []farm.Row) int {
	n := 0
	for n < len(rows) {
		c := rows[n].Case
		if c.Seed = rows[0].Seed; c != rows[0].Case {
			break
		}
		n++
	}
	return n
}

// variant names a set with what its cases differ in.
func variant(c *farm.Case) string {
	switch c.Set {
	case farm.Deadlines:
		return c.Set + " " + string(c.Reading)
	case farm.Bandwidths:
		return fmt.Sprintf("%s %d MB", c.Set, c.Rate)
	case farm.Knapsacks:
		return fmt.Sprintf("%s %d..%d%%", c.Set, c.Ratio.Low, c.Ratio.High)
	}
	return c.Set
}
