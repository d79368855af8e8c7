package reallocation

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// figure is one of the paper's: a metric on one kind of platform.
type figure struct {
	number    int
	metric    *metric
	dedicated bool
}

// figures are 6 to 13 of the paper.
var figures = []figure{
	{6, impacted, true},
	{7, reallocations, true},
	{8, early, true},
	{9, relative, true},
	{10, impacted, false},
	{11, reallocations, false},
	{12, early, false},
	{13, relative, false},
}

func (f figure) file() string { return fmt.Sprintf("figure-%02d", f.number) }

func (f figure) title() string {
	return fmt.Sprintf("Figure %d: %s, %s platforms", f.number, f.metric.title, platform(f.dedicated))
}

// boxes returns the figure's numbers: [scenario][couple].
func (f figure) boxes(s *study) ([][]chart.Box, error) {
	all := make([][]chart.Box, len(s.plan.Scenarios))
	for i, scenario := range s.plan.Scenarios {
		for _, c := range couples {
			b, err := chart.Summarize(values(s.of(f.dedicated, scenario, c), f.metric))
			if err != nil {
				return nil, fmt.Errorf("%s, %s, %s: %w", f.file(), scenario, c.name, err)
			}
			all[i] = append(all[i], b)
		}
	}
	return all, nil
}

func (f figure) chart(s *study, boxes [][]chart.Box) *chart.BoxPlot {
	p := &chart.BoxPlot{
		Title: f.title(), Note: s.note(boxes), XTitle: "scenario", YTitle: f.metric.axis,
		Groups: s.plan.Scenarios, Boxes: boxes, Palette: chart.Pairs,
		Scale: f.metric.scale, Cover: f.metric.cover, Rule: f.metric.rule,
	}
	for _, c := range couples {
		p.Series = append(p.Series, c.name)
	}
	return p
}

// table has a line for each box.
func (f figure) table(s *study, boxes [][]chart.Box) *papers.Table {
	t := &papers.Table{
		Head:  []string{"scenario", "heuristic", "experiments", "min", "q1", "median", "q3", "max", "mean"},
		Words: 2,
	}
	for i, scenario := range s.plan.Scenarios {
		for k, c := range couples {
			if b := boxes[i][k]; b.N > 0 {
				t.Add(scenario, c.name, papers.Count(b.N), papers.Exact(b.Min), papers.Exact(b.Q1),
					papers.Exact(b.Median),
					papers.Exact(b.Q3), papers.Exact(b.Max), papers.Exact(b.Mean))
			}
		}
	}
	return t
}

// overview has a line for each scenario: mean, least and greatest of each couple.
func (f figure) overview(s *study, boxes [][]chart.Box) *papers.Table {
	t := &papers.Table{Head: []string{"scenario"}, Words: 1}
	for _, c := range couples {
		t.Head = append(t.Head, c.name)
	}
	for i, scenario := range s.plan.Scenarios {
		cells := []string{scenario}
		for _, b := range boxes[i] {
			if b.N == 0 {
				cells = append(cells, "")
				continue
			}
			cells = append(cells, fmt.Sprintf("%s (%s to %s)", f.metric.show(b.Mean), f.metric.show(b.Min),
				f.metric.show(b.Max)))
		}
		t.Add(cells...)
	}
	return t
}

// metric is a figure of an experiment, as section 4.4 of the paper has it.
type metric struct {
	name  string // of columns
	title string
	axis  string // with its unit
	scale chart.Scale
	cover []float64
	rule  *chart.Rule
	of    func(*Row) optional
}

var (
	impacted = &metric{
		name: "impacted_share", title: "jobs impacted",
		axis:  "jobs whose completion time changes (% of the grid's jobs)",
		scale: chart.Percent,
		of:    func(r *Row) optional { return over(float64(r.Impacted), float64(r.GridJobs)) },
	}
	reallocations = &metric{
		name: "reallocations_share", title: "reallocations",
		axis:  "moves between sites (% of the number of the grid's jobs)",
		scale: chart.Percent, cover: []float64{0},
		of: func(r *Row) optional { return over(float64(r.Reallocations), float64(r.GridJobs)) },
	}
	early = &metric{
		name: "early_share", title: "jobs early", axis: "jobs completed earlier than without reallocation (% of the " +
			"impacted)",
		scale: chart.Percent, rule: &chart.Rule{At: 0.5, Label: "as many late"},
		of: func(r *Row) optional { return over(float64(r.Early), float64(r.Impacted)) },
	}
	relative = &metric{
		name: "relative_response", title: "relative average response time",
		axis: "mean response time of the impacted jobs " +
			"(with reallocation / without)",
		rule: &chart.Rule{At: 1, Label: "as without"},
		of:   func(r *Row) optional { return r.Relative },
	}
	// responseAll is not the paper's: it is over the same jobs whatever way is
	// taken, so that two ways can be compared by it.
	responseAll = &metric{
		name: "relative_response_all", title: "response time of all jobs",
		axis: "mean response time of all the grid's jobs " +
			"(with reallocation / without)",
		rule: &chart.Rule{At: 1, Label: "as without"},
		of:   func(r *Row) optional { return over(r.Response, r.ResponseReference) },
	}
	slowdownAll = &metric{
		name: "relative_bounded_slowdown_all",
		of:   func(r *Row) optional { return over(r.Slowdown, r.SlowdownReference) },
	}
	estimates = &metric{
		name: "estimates_per_job",
		of:   func(r *Row) optional { return over(float64(r.Estimates), float64(r.GridJobs)) },
	}
)

// values returns what a metric is in the rows where it is defined.
func values(rows []*Row, m *metric) []float64 {
	var out []float64
	for _, r := range rows {
		if v := m.of(r); v.defined {
			out = append(out, v.value)
		}
	}
	return out
}

// show writes a value of the metric as people read it.
func (m *metric) show(v float64) string {
	if m.scale == chart.Percent {
		return papers.Percent(v)
	}
	return papers.Ratio(v)
}
