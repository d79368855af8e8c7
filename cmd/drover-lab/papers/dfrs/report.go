package dfrs

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// Schema names the shape of the report about fractional scheduling in JSON.
const Schema = "drover.sim.repro-dfrs/1"

// About says what was run, and counts the verdicts.
func (r *Report) About() string {
	s := fmt.Sprintf("%s runs, penalty %s. %s", papers.Grouped(papers.Count(r.runs)), inSeconds(r.study.penalty),
		papers.Summary(r.Results))
	if r.remark != "" {
		s += ". Not the whole: " + r.remark
	}
	return s + "."
}

// offs lists what is off with the number of its reason, and then the reasons.
func (r *Report) offs() string {
	if len(r.Off) == 0 {
		return "Nothing that was measured."
	}
	b := &strings.Builder{}
	t := &papers.Table{Head: []string{"set", "algorithm", "of", "ours", "paper", "ours/paper", "why"}, Words: 3}
	var reasons []string
	for i := range r.Off {
		o := &r.Off[i]
		why := "**not accounted for**"
		if o.Why != "" {
			reasons = papers.Including(reasons, o.Why)
			for k, reason := range reasons {
				if reason == o.Why {
					why = fmt.Sprintf("(%d)", k+1)
				}
			}
		}
		t.Add(o.Set, o.Algorithm, o.Of, papers.Tenth(o.Ours), papers.Tenth(o.Paper), papers.Times(o.Ours, o.Paper), why)
	}
	rows, open := r.rowsOff()
	fmt.Fprintf(b, "Of %d rows of tables 2 and 5 that were measured %d have a number that is off by more than a "+
		"factor "+
		"of "+
		""+
		""+
		""+
		""+
		""+
		""+
		""+
		"2, %d of them in the mean; %d rows are not accounted for. Of sets with missing instances means alone are "+
		"compared.\n\n",
		r.study.measuredRows(), rows, r.meansOff(), open)
	fmt.Fprintf(b, "%s\n", t.Markdown())
	for i, reason := range reasons {
		fmt.Fprintf(b, "%d. %s\n", i+1, strings.TrimSpace(reason))
	}
	return b.String()
}

// rowsOff counts rows with a number that is off, and those with one that has no reason.
func (r *Report) rowsOff() (rows, open int) {
	type row struct{ set, algorithm string }
	all, unexplained := map[row]bool{}, map[row]bool{}
	for i := range r.Off {
		o := &r.Off[i]
		all[row{o.Set, o.Algorithm}] = true
		if o.Why == "" {
			unexplained[row{o.Set, o.Algorithm}] = true
		}
	}
	return len(all), len(unexplained)
}

func (r *Report) meansOff() (n int) {
	for i := range r.Off {
		if r.Off[i].Of == "avg" {
			n++
		}
	}
	return n
}

func (s *study) measuredRows() (n int) {
	for _, p := range paperRows() {
		if s.cell(p.set, whole, p.algorithm, tablePeriod) != nil {
			n++
		}
	}
	return n
}

// index is report.json.
func (r *Report) index(files []string) any {
	type off struct {
		Set       string  `json:"set"`
		Algorithm string  `json:"algorithm"`
		Of        string  `json:"of"`
		Ours      float64 `json:"ours"`
		Paper     float64 `json:"paper"`
		Why       string  `json:"why,omitempty"`
	}
	view := struct {
		Schema  string          `json:"schema"`
		About   string          `json:"about"`
		Lacking []string        `json:"lacking,omitempty"`
		Claims  []papers.Result `json:"claims"`
		Off     []off           `json:"off"`
		Files   []string        `json:"files"`
	}{Files: files, Schema: Schema, About: r.About(), Lacking: r.study.lacking(), Claims: r.Results, Off: []off{}}
	for _, o := range r.Off {
		view.Off = append(view.Off, off(o))
	}
	return view
}

// tables makes tables 2 to 5, ours beside the paper's.
func (r *Report) tables() {
	add := func(file, title string, t *papers.Table, says ...string) {
		r.Add(&papers.Section{Title: title, File: file, Table: t, Overview: t, Says: says, Empty: len(t.Rows) == 0})
	}
	s := r.study
	for i, set := range sets {
		add("table-2-"+set.id, fmt.Sprintf("Table 2: degradation from bound, %s", set.name),
			s.degradationTable(set.id, paperTable2, 3*i, true), r.note(set.id, whole))
	}
	for i := range costs {
		c := &costs[i]
		add("table-3-"+c.file, "Table 3: "+c.title, s.costTable(c, 4*i),
			r.note(fractional.Scaled, heavy), "Loads of 0.7 and more; mean, and in parentheses the greatest.")
	}
	add("table-4", "Table 4: normalized underutilization", s.underuseTable(), r.tablePeriods())
	add("table-5", "Table 5: degradation from bound of all 116 algorithms, HPC2N",
		s.degradationTable(fractional.HPC2N, paperTable5, 0, false), r.note(fractional.HPC2N, whole))
}

// note says what a table shows.
func (r *Report) note(set string, part int) string {
	return fmt.Sprintf("%d instances. %s", r.study.instances[setPart{set, part}], r.tablePeriods())
}

func (r *Report) tablePeriods() string {
	return fmt.Sprintf("Period %s where nothing else is said, penalty %s.", inSeconds(tablePeriod),
		inSeconds(r.study.penalty))
}

// degradationTable has a line for each of the paper's lines; its numbers begin in a column,
// and one for each that is ours alone, if there is more to show.
func (s *study) degradationTable(set string, paper []paperLine, from int, more bool) *papers.Table {
	t := &papers.Table{Words: 1, Head: []string{
		"algorithm", "avg.", "paper", "ours/paper", "std.", "paper", "ours/paper", "max", "paper", "ours/paper",
	}}
	any := false
	for i := range paper {
		l := &paper[i]
		theirs := l.stat(from)
		ours, ok := s.at(set, l.algorithm, degradation)
		any = any || ok
		row := []string{l.algorithm}
		for k, v := range ours.three() {
			p := theirs.three()[k]
			if ok {
				row = append(row, papers.Tenth(v), papers.Tenth(p), papers.Times(v, p))
			} else {
				row = append(row, "", papers.Tenth(p), "")
			}
		}
		t.Add(row...)
	}
	if more {
		for _, w := range append([]dfrsWay{{recommended, recommendedPeriod}}, s.others()...) {
			if c := s.cell(set, whole, w.algorithm, w.period); c != nil {
				v := c.stats[degradation]
				t.Add(w.String(), papers.Tenth(v.avg), "", "", papers.Tenth(v.std), "", "", papers.Tenth(v.max), "", "")
			}
		}
	}
	if !any {
		t.Rows = nil
	}
	return t
}

func (s stat) three() [3]float64 { return [3]float64{s.avg, s.std, s.max} }

// costs are the parts of table 3: each has a mean and a maximum of either.
var costs = []cost{
	{"bandwidth", "bandwidth of preemptions and migrations, GB/s", preemptedGB, migratedGB},
	{"hour", "preemptions and migrations in an hour", preemptedHour, migratedHour},
	{"job", "preemptions and migrations of a job", preemptedJob, migratedJob},
}

type cost struct {
	file, title         string
	preempted, migrated measure
}

// costTable is a part of table 3; its numbers begin in a column of the paper's.
func (s *study) costTable(c *cost, from int) *papers.Table {
	t := &papers.Table{Words: 1, Head: []string{
		"algorithm", "preempted", "paper", "ours/paper", "migrated", "paper", "ours/paper",
	}}
	show := func(avg, max float64) string {
		return fmt.Sprintf("%s (%s)", papers.Hundredth(avg), papers.Hundredth(max))
	}
	any := false
	for i := range paperTable3 {
		l := &paperTable3[i]
		row := []string{l.algorithm}
		for k, m := range []measure{c.preempted, c.migrated} {
			avg, max := l.v[from+2*k], l.v[from+2*k+1]
			ours, ok := s.cost(l.algorithm, tablePeriod, m)
			if any = any || ok; ok {
				row = append(row, show(ours.avg, ours.max), show(avg, max), papers.Times(ours.avg, avg))
			} else {
				row = append(row, "", show(avg, max), "")
			}
		}
		t.Add(row...)
	}
	if own := s.cell(fractional.Scaled, heavy, recommended, recommendedPeriod); own != nil {
		p, m := own.stats[c.preempted], own.stats[c.migrated]
		t.Add(dfrsWay{recommended, recommendedPeriod}.String(), show(p.avg, p.max), "", "", show(m.avg, m.max), "", "")
	}
	if !any {
		t.Rows = nil
	}
	return t
}

// underuseTable has the paper's three lines, the recommended period, and the log in one
// piece, of which the paper says 8% and 10% in passing.
func (s *study) underuseTable() *papers.Table {
	t := &papers.Table{Words: 1, Head: []string{"algorithm"}}
	for _, set := range sets {
		t.Head = append(t.Head, set.name, "paper", "ours/paper")
	}
	t.Head = append(t.Head, "HPC2N in one piece", "paper")
	any := false
	line := func(name, algorithm string, period batch.Duration, paper []float64, piece string) {
		row := []string{name}
		for i, set := range sets {
			ours, theirs, by := "", "", ""
			v, ok := s.stat(set.id, whole, algorithm, period, underused)
			if ok {
				ours, any = papers.Ratio(v.avg), true
			}
			if paper != nil {
				theirs = papers.Ratio(paper[i])
			}
			if ok && paper != nil {
				by = papers.Times(v.avg, paper[i])
			}
			row = append(row, ours, theirs, by)
		}
		one := ""
		if v, ok := s.stat(fractional.Whole, whole, algorithm, period, underused); ok {
			one = papers.Ratio(v.avg)
		}
		t.Add(append(row, one, piece)...)
	}
	for i := range paperTable4 {
		l := &paperTable4[i]
		piece := "0.10"
		if l.algorithm == fractional.EASY {
			piece = "0.08"
		}
		line(l.algorithm, l.algorithm, tablePeriod, l.v, piece)
	}
	line(dfrsWay{recommended, recommendedPeriod}.String(), recommended, recommendedPeriod, nil, "")
	if !any {
		t.Rows = nil
	}
	return t
}
