package convergent

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// timeFigures draws figures 7 and 8.
func (r *Report) timeFigures() {
	s := r.study
	t := s.loadsTable(everyone(), func(k key) (string, bool) {
		all, ok := s.took(k, meanPlan)
		median, _ := s.took(k, medianPlan)
		return papers.Shown(all, ok, func(v float64) string { return papers.Ratio(v) + " / " + papers.Ratio(median) }), ok
	})
	title := "Figure 7: time of a plan"
	r.add(&papers.Section{
		Title: title, File: "figure-7", Table: t, Says: []string{"Milliseconds: mean / median of a run's plans, mean of the seeds. A plan is all that the policy does at an instant."},
		Chart: s.alongLoads(title, "ms, mean", farm.Algorithms, true, func(k key) (float64, bool) { return s.took(k, meanPlan) }),
	})
	r.growthFigure()
}

// growthFigure is figure 8.
func (r *Report) growthFigure() {
	s := r.study
	c := &chart.Lines{
		Title: "Figure 8: time of a plan by jobs in the system", XTitle: "jobs in the system", YTitle: "ms, median of the plans after the first",
		Note: fmt.Sprintf("one job after the other comes to a farm that has the others: %d times", farm.Later),
	}
	t := &papers.Table{Words: 1, Head: []string{"algorithm", "machines", "jobs", "plans", "first (ms)", "median (ms)", "longest (ms)", "median / jobs (µs)"}}
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
				t.Add(a, papers.Count(machines), papers.Grouped(papers.Count(jobs)), papers.Count(s.cells[k].costs[0].Plans), papers.Ratio(first), papers.Ratio(median), papers.Ratio(longest), papers.Ratio(1000*median/float64(jobs)))
			}
			if len(l.X) > 0 {
				c.Lines = append(c.Lines, l)
			}
		}
	}
	sec := &papers.Section{Title: c.Title, File: "figure-8", Table: t}
	if len(c.Lines) > 0 {
		sec.Chart = c
	}
	r.add(sec)
}

// openFigures are what the paper leaves open: what its deadlines mean, and bandwidth.
func (r *Report) openFigures() {
	r.open(farm.Deadlines, "deadlines", "What the deadlines could mean", "reading", func(k key) string { return string(k.reading) },
		"See [package farm](../cmd/drover-lab/papers/farm/reading.go): percent is what all other tables have.")
	r.open(farm.Bandwidths, "bandwidth", "What moving input data costs", "MB in a unit", func(k key) string { return papers.Grouped(fmt.Sprint(k.rate)) },
		"A job of 100 to 800 MB that begins or goes on where its input does not lie first holds its machine for so long. In all other tables that takes no time.")
}

// open makes a table of the rows of a set by what its cases differ in.
func (r *Report) open(set, file, title, by string, name func(key) string, says string) {
	s := r.study
	arrivals := s.arrivals(set)
	t := &papers.Table{Words: 2, Head: []string{by, "algorithm"}}
	for _, what := range []string{"late %", "slowdown", "preemptions"} {
		for _, a := range arrivals {
			t.Head = append(t.Head, fmt.Sprintf("%s, %d", what, a))
		}
	}
	t.Head = append(t.Head, "n")
	for _, v := range s.variants(set) {
		for _, a := range farm.Few {
			v.algorithm = a
			n := 0
			row := []string{name(v), a}
			for _, f := range []struct {
				m     measure
				write func(float64) string
			}{{lateJobs, papers.Tenth}, {undatedSlow, papers.Hundredth}, {preempted, func(v float64) string { return papers.Grouped(fmt.Sprintf("%.0f", v)) }}} {
				for _, arrival := range arrivals {
					v.arrival = arrival
					x, ok := s.of(v, f.m)
					row = append(row, papers.Shown(x, ok, f.write))
					if ok {
						n = len(s.cells[v].rows)
					}
				}
			}
			if n > 0 {
				t.Add(append(row, papers.Count(n))...)
			}
		}
	}
	r.add(&papers.Section{Title: title, File: file, Table: t, Says: []string{says}})
}

// variants returns the readings or rates of a set, as keys without algorithm and load;
// readings in their order, rates falling.
func (s *study) variants(set string) []key {
	var all []key
	add := func(k key) {
		for have := range s.cells {
			if have.set == set && have.reading == k.reading && have.rate == k.rate {
				all = append(all, k)
				return
			}
		}
	}
	for _, reading := range farm.Readings {
		for _, rate := range append([]int64{0}, farm.Rates...) {
			add(key{set: set, reading: reading, rate: rate})
		}
	}
	return all
}
