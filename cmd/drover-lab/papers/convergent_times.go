package papers

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/farm"
)

// timeFigures draws figures 7 and 8.
func (r *ConvergentReport) timeFigures() {
	s := r.study
	t := s.loadsTable(everyone(), func(k farmKey) (string, bool) {
		all, ok := s.took(k, meanPlan)
		median, _ := s.took(k, medianPlan)
		return shown(all, ok, func(v float64) string { return ratio(v) + " / " + ratio(median) }), ok
	})
	title := "Figure 7: time of a plan"
	r.add(section{
		title: title, file: "figure-7", table: t, says: []string{"Milliseconds: mean / median of a run's plans, mean of the seeds. A plan is all that the policy does at an instant."},
		chart: s.alongLoads(title, "ms, mean", farm.Algorithms, true, func(k farmKey) (float64, bool) { return s.took(k, meanPlan) }),
	})
	r.growthFigure()
}

// growthFigure is figure 8.
func (r *ConvergentReport) growthFigure() {
	s := r.study
	c := &chart.Lines{
		Title: "Figure 8: time of a plan by jobs in the system", XTitle: "jobs in the system", YTitle: "ms, median of the plans after the first",
		Note: fmt.Sprintf("one job after the other comes to a farm that has the others: %d times", farm.Later),
	}
	t := &table{text: 1, head: []string{"algorithm", "machines", "jobs", "plans", "first (ms)", "median (ms)", "longest (ms)", "median / jobs (µs)"}}
	for _, machines := range []int{150, 1000} {
		for _, a := range []string{"CS_ip", "CS_nip", "EDF"} {
			l := chart.Line{Name: fmt.Sprintf("%s, %d machines", a, machines)}
			for _, jobs := range s.sizes(a, machines) {
				k := growthKey(a, machines, jobs)
				median, _ := s.took(k, medianPlan)
				first, _ := s.took(k, firstPlan)
				longest, _ := s.took(k, longestPlan)
				if median > 0 {
					l.X, l.Y = append(l.X, float64(jobs)), append(l.Y, median)
				}
				t.add(a, count(machines), grouped(count(jobs)), count(s.cells[k].costs[0].Plans), ratio(first), ratio(median), ratio(longest), ratio(1000*median/float64(jobs)))
			}
			if len(l.X) > 0 {
				c.Lines = append(c.Lines, l)
			}
		}
	}
	sec := section{title: c.Title, file: "figure-8", table: t}
	if len(c.Lines) > 0 {
		sec.chart = c
	}
	r.add(sec)
}

// openFigures are what the paper leaves open: what its deadlines mean, and bandwidth.
func (r *ConvergentReport) openFigures() {
	r.open(farm.Deadlines, "deadlines", "What the deadlines could mean", "reading", func(k farmKey) string { return string(k.reading) },
		"See [package farm](../cmd/drover-lab/papers/farm/reading.go): percent is what all other tables have.")
	r.open(farm.Bandwidths, "bandwidth", "What moving input data costs", "MB in a unit", func(k farmKey) string { return grouped(fmt.Sprint(k.rate)) },
		"A job of 100 to 800 MB that begins or goes on where its input does not lie first holds its machine for so long. In all other tables that takes no time.")
}

// open makes a table of the rows of a set by what its cases differ in.
func (r *ConvergentReport) open(set, file, title, by string, name func(farmKey) string, says string) {
	s := r.study
	arrivals := s.arrivals(set)
	t := &table{text: 2, head: []string{by, "algorithm"}}
	for _, what := range []string{"late %", "slowdown", "preemptions"} {
		for _, a := range arrivals {
			t.head = append(t.head, fmt.Sprintf("%s, %d", what, a))
		}
	}
	t.head = append(t.head, "n")
	for _, v := range s.variants(set) {
		for _, a := range farm.Few {
			v.algorithm = a
			n := 0
			row := []string{name(v), a}
			for _, f := range []struct {
				m     farmMeasure
				write func(float64) string
			}{{lateJobs, tenth}, {undatedSlow, hundredth}, {preempted, func(v float64) string { return grouped(fmt.Sprintf("%.0f", v)) }}} {
				for _, arrival := range arrivals {
					v.arrival = arrival
					x, ok := s.of(v, f.m)
					row = append(row, shown(x, ok, f.write))
					if ok {
						n = len(s.cells[v].rows)
					}
				}
			}
			if n > 0 {
				t.add(append(row, count(n))...)
			}
		}
	}
	r.add(section{title: title, file: file, table: t, says: []string{says}})
}

// variants returns the readings or rates of a set, as keys without algorithm and load;
// readings in their order, rates falling.
func (s *farmStudy) variants(set string) []farmKey {
	var all []farmKey
	add := func(k farmKey) {
		for have := range s.cells {
			if have.set == set && have.reading == k.reading && have.rate == k.rate {
				all = append(all, k)
				return
			}
		}
	}
	for _, reading := range farm.Readings {
		for _, rate := range append([]int64{0}, farm.Rates...) {
			add(farmKey{set: set, reading: reading, rate: rate})
		}
	}
	return all
}
