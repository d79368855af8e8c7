package dynp

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// Schema names the shape of the report about dynP in JSON.
const Schema = "drover.sim.repro-dynp/1"

// Report holds the tables of the dynP paper against ours.
type Report struct {
	papers.Report

	study *study
	runs  []Run
}

// NewReport makes a report of runs; each that Runs names for these traces is there,
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
		t.Add(trace.Name, trace.File, fmt.Sprint(trace.Procs), fmt.Sprint(s.runs[basic(trace.Name, basics[0])].Jobs),
			trace.About)
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
			k.Trace, k.Policies, k.Decider, k.Metric, tuningName(k.Half), k.Equal, k.Shared, f.Jobs, f.SLDwA,
			f.Utilization, f.Steps,
			[]policy{},
		}
		for _, p := range f.Policies {
			line.Each = append(line.Each, policy(p))
		}
		view.Runs = append(view.Runs, line)
	}
	return view
}

// study is the runs, looked at by trace.
type study struct {
	traces []Trace
	runs   map[Run]*Figures
}

// basicTable is table 2.
func (s *study) basicTable() *papers.Table {
	t := &papers.Table{Head: []string{"trace", "policy", "paper", "ours", "difference"}, Words: 2}
	for _, trace := range s.traces {
		for i, p := range basics {
			paper, ours := paperBasics[trace.Name][i], s.runs[basic(trace.Name, p)].SLDwA
			t.Add(trace.Name, p, four(paper), four(ours), off(ours, paper))
		}
	}
	return t
}

// columns are the ways that tables 3 to 6 show beside the paper.
func (s *study) columns() []dynpWay {
	if w, ok := s.closestTolerance(); ok && w != exactWay {
		return []dynpWay{exactWay, w, sharedWay}
	}
	return []dynpWay{exactWay, sharedWay}
}

func (w dynpWay) column() string {
	switch {
	case w == exactWay:
		return "ours, exact"
	case w.shared:
		return "ours, one list"
	}
	return "ours, equal=" + w.equal
}

// compared makes a table. Each line has the paper's figure and, for each variant, our
// figure and its difference from the paper's.
func (s *study) compared(text ...string) *papers.Table {
	t := &papers.Table{Head: append(text, "paper"), Words: len(text)}
	for _, w := range s.columns() {
		t.Head = append(t.Head, w.column(), "difference")
	}
	return t
}

// metricTable is the upper half of table 3.
func (s *study) metricTable() *papers.Table {
	t := s.compared("trace", "metric")
	for _, trace := range s.traces {
		for i, m := range measures {
			paper := paperMetrics[trace.Name][i]
			line := []string{trace.Name, m, four(paper)}
			for _, w := range s.columns() {
				ours := s.runs[w.run(trace.Name, "advanced", m, false)].SLDwA
				line = append(line, four(ours), off(ours, paper))
			}
			t.Add(line...)
		}
	}
	return t
}

// utilizationTable is the lower half of table 3.
func (s *study) utilizationTable() *papers.Table {
	t := &papers.Table{Head: []string{"trace", "metric", "paper"}, Words: 2}
	for _, w := range s.columns() {
		t.Head = append(t.Head, w.column())
	}
	for _, trace := range s.traces {
		for i, m := range measures {
			line := []string{trace.Name, m, fmt.Sprintf("%.3f%%", paperUtilization[trace.Name][i])}
			for _, w := range s.columns() {
				line = append(line,
					fmt.Sprintf("%.3f%%", 100*s.runs[w.run(trace.Name, "advanced", m, false)].Utilization))
			}
			t.Add(line...)
		}
	}
	return t
}

// deciderTable is table 4.
func (s *study) deciderTable() *papers.Table {
	t := s.compared("trace", "decider", "self-tuning")
	for _, trace := range s.traces {
		for i, d := range deciders {
			for k, half := range []bool{true, false} {
				paper := paperDeciders[trace.Name][i][k]
				line := []string{trace.Name, d, tuningName(half), four(paper)}
				for _, w := range s.columns() {
					ours := s.runs[w.run(trace.Name, d, sldwa, half)].SLDwA
					line = append(line, four(ours), off(ours, paper))
				}
				t.Add(line...)
			}
		}
	}
	return t
}

func tuningName(half bool) string {
	if half {
		return "half"
	}
	return "full"
}

// caseTable is table 5: which policies were best, while which was active.
func (s *study) caseTable() *papers.Table {
	t := &papers.Table{Head: []string{"trace", "best", "active"}, Words: 3}
	shown := []string{"simple", "advanced"}
	for _, d := range shown {
		t.Head = append(t.Head, d+": paper")
		for _, w := range s.columns() {
			t.Head = append(t.Head, d+": "+w.column())
		}
	}
	for _, trace := range s.traces {
		for _, best := range [][]string{
			basics,
			{"FCFS", "SJF"},
			{"FCFS", "LJF"},
			{"SJF", "LJF"},
			{"FCFS"},
			{"SJF"},
			{"LJF"},
		} {
			for _, active := range basics {
				line := []string{trace.Name, strings.Join(best, " = "), active}
				for _, d := range shown {
					paper := ""
					if trace.Name == paperTrace && active == "SJF" && len(best) == 2 && best[1] == "SJF" {
						paper = papers.Hundredths(paperTie[d])
					}
					line = append(line, paper)
					for _, w := range s.columns() {
						line = append(line, papers.Hundredths(s.runs[w.run(trace.Name, d, sldwa, false)].part(active,
							best)))
					}
				}
				t.Add(line...)
			}
		}
	}
	return t
}

// part returns the part of the steps with this case.
func (f *Figures) part(active string, best []string) float64 {
	for _, c := range f.Cases {
		if c.Active == active && strings.Join(c.Best, ",") == strings.Join(best, ",") {
			return float64(c.Steps) / float64(f.Steps)
		}
	}
	return 0
}

// switchTable is table 6.
func (s *study) switchTable() *papers.Table {
	t := &papers.Table{Head: []string{"trace", "decider", "policy"}, Words: 3}
	for _, what := range []string{"switches to it", "jobs started by it"} {
		t.Head = append(t.Head, what+": paper")
		for _, w := range s.columns() {
			t.Head = append(t.Head, what+": "+w.column())
		}
	}
	for _, trace := range s.traces {
		for _, d := range []string{"simple", "advanced"} {
			for i, p := range basics {
				switches, started := "", ""
				if trace.Name == paperTrace {
					switches, started = papers.Hundredths(paperSwitches[d].switches[i]),
						papers.Hundredths(paperSwitches[d].started[i])
				}
				line, tail := []string{trace.Name, d, p, switches}, []string{started}
				for _, w := range s.columns() {
					f := s.runs[w.run(trace.Name, d, sldwa, false)]
					line = append(line, papers.Hundredths(float64(f.Policies[i].Switches)/float64(f.Steps)))
					tail = append(tail, papers.Hundredths(float64(f.Policies[i].Started)/float64(f.started())))
				}
				t.Add(append(line, tail...)...)
			}
		}
	}
	return t
}

func (f *Figures) started() (n int) {
	for _, p := range f.Policies {
		n += p.Started
	}
	return n
}

func four(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }

// off writes by how much ours differs from the paper's.
func off(ours, paper float64) string { return fmt.Sprintf("%+.1f%%", 100*(ours/paper-1)) }

// apart is how far ours is from the paper's, whichever is larger.
func apart(ours, paper float64) float64 { return math.Abs(math.Log(ours / paper)) }
