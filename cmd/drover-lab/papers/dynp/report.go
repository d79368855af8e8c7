package dynp

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// DynPSchema names the shape of the report about dynP in JSON.
const Schema = "drover.sim.repro-dynp/1"

// DynPReport holds the tables of the dynP paper against ours.
type Report struct {
	papers.Report

	study *study
	runs  []Run
}

// DynP makes a report of runs; each that DynPRuns names for these traces is there,
// or the quick ones are.
func NewReport(traces []Trace, runs map[Run]*Figures, quick bool) *Report {
	s := &study{traces, runs}
	r := &Report{study: s, runs: Runs(traces, quick)}
	r.Title, r.Index = "Self-tuning dynP: the paper's tables, and ours", r.index
	add := func(file, title string, t *papers.Table, says ...string) {
		r.Add(&papers.Section{Title: title, File: file, Table: t, Overview: t, Says: says, Empty: len(t.Rows) == 0})
	}
	add("traces", "Traces", s.traceTable())
	add("table-2", "Table 2: SLDwA of the basic policies", s.basicTable())
	add("table-3", "Table 3: SLDwA by self-tuning metric, advanced decider, full self-tuning", s.metricTable())
	add("table-3-utilization", "Table 3: utilization", s.utilizationTable())
	add("table-4", "Table 4: SLDwA by decider", s.deciderTable())
	add("table-5", "Table 5: what the steps found, full self-tuning by SLDwA", s.caseTable())
	add("table-6", "Table 6: switches, and jobs started, full self-tuning by SLDwA", s.switchTable())
	add("equal", "Which plans are equal?", s.equalTable(), s.says()...)
	for _, t := range traces {
		if c := s.equalChart(t.Name); c != nil {
			r.Add(&papers.Section{Title: t.Name + " by tolerance", File: "equal-" + strings.ToLower(t.Name), Chart: c})
		}
	}
	return r
}

// traceTable says what was run.
func (s *study) traceTable() *papers.Table {
	t := &papers.Table{Head: []string{"trace", "file", "processors", "jobs", "in the paper"}, Words: 2}
	for _, trace := range s.traces {
		t.Add(trace.Name, trace.File, fmt.Sprint(trace.Procs), fmt.Sprint(s.runs[basic(trace.Name, basics[0])].Jobs), trace.About)
	}
	return t
}

// index is report.json: every run.
func (r *Report) index(files []string) any {
	type policy struct {
		Name     string `json:"name"`
		Switches int    `json:"switches"`
		Started  int    `json:"started"`
	}
	type run struct {
		Trace       string   `json:"trace"`
		Policies    string   `json:"policies"`
		Decider     string   `json:"decider"`
		Metric      string   `json:"metric"`
		Tuning      string   `json:"tuning"`
		Equal       string   `json:"equal"`
		Shared      bool     `json:"shared"`
		Jobs        int      `json:"jobs"`
		SLDwA       float64  `json:"slowdown_area_weighted"`
		Utilization float64  `json:"utilization"`
		Steps       int      `json:"self_tuning_steps"`
		Each        []policy `json:"by_policy"`
	}
	view := struct {
		Schema string   `json:"schema"`
		Runs   []run    `json:"runs"`
		Files  []string `json:"files"`
	}{Files: files, Schema: Schema}
	for _, k := range r.runs {
		f := r.study.runs[k]
		line := run{
			k.Trace, k.Policies, k.Decider, k.Metric, tuningName(k.Half), k.Equal, k.Shared, f.Jobs, f.SLDwA, f.Utilization, f.Steps, []policy{},
		}
		for _, p := range f.Policies {
			line.Each = append(line.Each, policy(p))
		}
		view.Runs = append(view.Runs, line)
	}
	return view
}
