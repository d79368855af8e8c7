package convergent

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// What figures show beyond the paper, with what it is compared with: no more lines than
// a chart has room for.
var presetLines = []string{
	"CS_ip", "CS_ip" + withPreset, "CS_inp" + withPreset, "BF-rm", "BF-rm" +
		withPreset, "EDF", "EDF anew=true", "EDF order=queued",
}

// everyone has a row in each table.
func everyone() []string { return slices.Concat(farm.Algorithms, farm.Beyond) }

// loadFigures draws figures 3 to 6.
func (r *Report) loadFigures() {
	s := r.study
	r.workloads()
	for _, f := range []struct {
		file, title, axis string
		m                 measure
		write             func(float64) string
		log               bool
	}{
		{"figure-4", "Figure 4: late jobs", "late, % of jobs with a deadline", lateJobs, papers.Tenth, false},
		{
			"figure-5", "Figure 5: slowdown of jobs without a deadline", "slowdown, mean", undatedSlow,
			papers.Hundredth, true,
		},
		{"figure-6", "Figure 6: machine usage", "machines in use, %", machinesBusy, papers.Tenth, false},
		{"licenses", "License usage", "copies in use, %", licensesInUse, papers.Tenth, false},
	} {
		t := s.loadsTable(everyone(), s.figureOf(f.m, f.write))
		draw := func(file, title string, of []string, overview *papers.Table) {
			r.add(&papers.Section{
				Title: title, File: file, Chart: s.alongLoads(title, f.axis, of, f.log,
					func(k key) (float64, bool) { return s.of(k, f.m) }), Table: t, Overview: overview,
				Says: s.aside(f.file),
			})
		}
		draw(f.file, f.title, farm.Algorithms, t)
		if f.file == "figure-4" || f.file == "figure-5" {
			for _, more := range []struct {
				file, title string
				of          []string
			}{{
				"-meant", ", if two lines of the paper are misprints",
				slices.Concat(csMeant, peersMeant, []string{"EDF order=latest"}),
			}, {"-beyond", ", beyond the paper", presetLines}} {
				draw(f.file+more.file, f.title+more.title, more.of, s.loadsTable(more.of, s.figureOf(f.m, f.write)))
			}
		}
	}
	moves := s.loadsTable(everyone(), s.figureOf(preempted,
		func(v float64) string { return papers.Grouped(fmt.Sprintf("%.0f", v)) }))
	r.add(&papers.Section{
		Title: "How often a job has to leave its machine", File: "preemptions", Table: moves,
		Says: []string{"Times in a run of 1,500 jobs, mean of the seeds."},
	})
}

// aside is what is to be said of a figure.
func (s *study) aside(file string) []string {
	switch file {
	case "figure-4":
		worst := 0.
		for k, c := range s.cells {
			if k.set == farm.Loads {
				worst = max(worst, slices.Max(papers.Each(c.rows, hopelessJobs)))
			}
		}
		return []string{fmt.Sprintf("Mean of the seeds. Hopeless are at most %s%% of a run's jobs with a deadline: no "+
			"machine would make these even alone.", papers.Tenth(worst))}
	case "licenses":
		return []string{"The paper names it among its criteria and shows no figure of it."}
	}
	return nil
}

// alongLoads is a chart over inter-arrival times; nil if there are no rows.
func (s *study) alongLoads(
	title, axis string, algorithms []string, log bool, of func(key) (float64, bool),
) chart.Chart {
	c := &chart.Lines{
		Title: title, XTitle: "inter-arrival time (units)", YTitle: axis, Linear: !log, LinearX: true,
		Note: "150 machines, 20 licenses, 1,500 jobs; seeds: " + s.seedsOf(farm.Loads),
	}
	for _, a := range algorithms {
		l := chart.Line{Name: a}
		for _, arrival := range farm.Arrivals {
			if v, ok := of(atLoads(a, arrival)); ok && (v > 0 || !log) {
				l.X, l.Y = append(l.X, float64(arrival)), append(l.Y, v)
			}
		}
		if len(l.X) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	if len(c.Lines) == 0 {
		return nil
	}
	return c
}

// workloadEvery is how many samples lie between two points of figure 3.
const workloadEvery = 4

// workloads is figure 3, under CS_ip: the paper does not name the algorithm.
func (r *Report) workloads() {
	s := r.study
	c := &chart.Lines{
		Title: "Figure 3: jobs in the system through a simulation, CS_ip", XTitle: "units",
		YTitle: "jobs, waiting or " +
			"running", Linear: true,
		Note: "a line for each inter-arrival time; mean of the seeds: " + s.seedsOf(farm.Loads),
	}
	t := &papers.Table{Words: 0, Head: []string{
		"inter-arrival", "most", "2nd quarter", "last quarter", "last / 2nd",
		"last submission", "last end",
	}}
	for _, arrival := range farm.Arrivals {
		k := atLoads("CS_ip", arrival)
		w := s.workload(k)
		second, last, ok := s.quarters(k)
		if !ok {
			continue
		}
		l := chart.Line{Name: strconv.Itoa(arrival)}
		for i := 0; i < len(w); i += workloadEvery {
			l.X, l.Y = append(l.X, float64(i)*farm.SampleEvery.Seconds()), append(l.Y, w[i])
		}
		c.Lines = append(c.Lines, l)
		whole := func(v float64) string { return papers.Grouped(fmt.Sprintf("%.0f", v)) }
		span, _ := s.of(k, func(r *farm.Row) float64 { return r.Span })
		t.Add(papers.Count(arrival), whole(slices.Max(w)), whole(second), whole(last), papers.Times(last, second),
			whole(float64(s.submissions(k))*farm.SampleEvery.Seconds()), whole(span))
	}
	sec := &papers.Section{
		Title: c.Title, File: "figure-3", Table: t,
		Says: []string{"Quarters are of the time in which jobs are submitted: means of the jobs in the system."},
	}
	if len(c.Lines) > 0 {
		sec.Chart = c
	}
	r.add(sec)
}

// timeFigures draws figures 7 and 8.
func (r *Report) timeFigures() {
	s := r.study
	t := s.loadsTable(everyone(), func(k key) (string, bool) {
		all, ok := s.took(k, meanPlan)
		median, _ := s.took(k, medianPlan)
		return papers.Shown(all, ok, func(v float64) string { return papers.Ratio(v) + " / " + papers.Ratio(median) }),
			ok
	})
	title := "Figure 7: time of a plan"
	r.add(&papers.Section{
		Title: title, File: "figure-7", Table: t,
		Says: []string{"Milliseconds: mean / median of a run's plans, mean of the " +
			"seeds. A plan is all that the policy does at an instant."},
		Chart: s.alongLoads(title, "ms, mean", farm.Algorithms, true,
			func(k key) (float64, bool) { return s.took(k, meanPlan) }),
	})
	r.growthFigure()
}

// growthFigure is figure 8.
func (r *Report) growthFigure() {
	s := r.study
	c := &chart.Lines{
		Title: "Figure 8: time of a plan by jobs in the system", XTitle: "jobs in the system",
		YTitle: "ms, median of the " +
			"plans after the first",
		Note: fmt.Sprintf("one job after the other comes to a farm that has the others: %d times", farm.Later),
	}
	t := &papers.Table{Words: 1, Head: []string{
		"algorithm", "machines", "jobs", "plans", "first (ms)", "median (ms)",
		"longest (ms)", "median / jobs (µs)",
	}}
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
				t.Add(a, papers.Count(machines), papers.Grouped(papers.Count(jobs)),
					papers.Count(s.cells[k].costs[0].Plans),
					papers.Ratio(first), papers.Ratio(median), papers.Ratio(longest),
					papers.Ratio(1000*median/float64(jobs)))
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
	r.open(farm.Deadlines, "deadlines", "What the deadlines could mean", "reading",
		func(k key) string { return string(k.reading) },
		"See [package farm](../cmd/drover-lab/papers/convergent/farm/instance.go): percent is what all other tables "+
			"have.")
	r.open(farm.Bandwidths, "bandwidth", "What moving input data costs", "MB in a unit",
		func(k key) string { return papers.Grouped(fmt.Sprint(k.rate)) },
		"A job of 100 to 800 MB that starts or continues where its input does not lie first holds its machine for so "+
			"long. In "+
			"all other tables that takes no time.")
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
			}{{lateJobs, papers.Tenth}, {undatedSlow, papers.Hundredth}, {
				preempted,
				func(v float64) string { return papers.Grouped(fmt.Sprintf("%.0f", v)) },
			}} {
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
