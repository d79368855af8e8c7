package reallocation

import (
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

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
		name: "impacted_share", title: "jobs impacted", axis: "jobs whose completion time changes (% of the grid's jobs)",
		scale: chart.Percent,
		of:    func(r *Row) optional { return over(float64(r.Impacted), float64(r.GridJobs)) },
	}
	reallocations = &metric{
		name: "reallocations_share", title: "reallocations", axis: "moves between sites (% of the number of the grid's jobs)",
		scale: chart.Percent, cover: []float64{0},
		of: func(r *Row) optional { return over(float64(r.Reallocations), float64(r.GridJobs)) },
	}
	early = &metric{
		name: "early_share", title: "jobs early", axis: "jobs completed earlier than without reallocation (% of the impacted)",
		scale: chart.Percent, rule: &chart.Rule{At: 0.5, Label: "as many late"},
		of: func(r *Row) optional { return over(float64(r.Early), float64(r.Impacted)) },
	}
	relative = &metric{
		name: "relative_response", title: "relative average response time", axis: "mean response time of the impacted jobs (with reallocation / without)",
		rule: &chart.Rule{At: 1, Label: "as without"},
		of:   func(r *Row) optional { return r.Relative },
	}
	// responseAll is not the paper's: it is over the same jobs whatever way is
	// taken, so that two ways can be compared by it.
	responseAll = &metric{
		name: "relative_response_all", title: "response time of all jobs", axis: "mean response time of all the grid's jobs (with reallocation / without)",
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
