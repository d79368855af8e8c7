package papers

import (
	"fmt"
	"strings"
)

// DynPSchema names the shape of the report about dynP in JSON.
const DynPSchema = "drover.sim.repro-dynp/1"

// DynPReport holds the tables of the dynP paper against ours.
type DynPReport struct {
	study    *dynpStudy
	runs     []DynPRun
	sections []section
}

// DynP makes a report of runs; each that DynPRuns names for these traces is there,
// or the quick ones are.
func DynP(traces []DynPTrace, runs map[DynPRun]*DynPFigures, quick bool) *DynPReport {
	s := &dynpStudy{traces, runs}
	r := &DynPReport{study: s, runs: DynPRuns(traces, quick)}
	add := func(file, title string, t *table, says ...string) {
		r.sections = append(r.sections, section{title: title, file: file, table: t, overview: t, says: says, empty: len(t.rows) == 0})
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
			r.sections = append(r.sections, section{title: t.Name + " by tolerance", file: "equal-" + strings.ToLower(t.Name), chart: c})
		}
	}
	return r
}

// traceTable says what was run.
func (s *dynpStudy) traceTable() *table {
	t := &table{head: []string{"trace", "file", "processors", "jobs", "in the paper"}, text: 2}
	for _, trace := range s.traces {
		t.add(trace.Name, trace.File, fmt.Sprint(trace.Procs), fmt.Sprint(s.runs[basic(trace.Name, basics[0])].Jobs), trace.About)
	}
	return t
}

// Markdown returns the report with headings from a level on; folder is where its
// pictures are, seen from the page that it stands in, with a slash at the end.
func (r *DynPReport) Markdown(level int, folder string) string {
	b := &strings.Builder{}
	for i := range r.sections {
		r.sections[i].markdown(b, level, folder)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Files draws the pictures and returns all files of the report.
func (r *DynPReport) Files() ([]File, error) {
	return compose(r.sections, nil, "# Self-tuning dynP: the paper's tables, and ours\n\n"+r.Markdown(2, ""), r.index)
}

// Write writes all files to a folder, which is made if it is not there. It returns
// their names.
func (r *DynPReport) Write(dir string) ([]string, error) { return write(dir, r.Files) }

// index is report.json: every run.
func (r *DynPReport) index(files []string) any {
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
	}{Files: files, Schema: DynPSchema}
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
