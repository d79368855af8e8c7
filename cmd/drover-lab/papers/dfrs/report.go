package dfrs

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// DFRSSchema names the shape of the report about fractional scheduling in JSON.
const Schema = "drover.sim.repro-dfrs/1"

// About says what was run, and counts the verdicts.
func (r *Report) About() string {
	s := fmt.Sprintf("%s runs, penalty %s. %s", papers.Grouped(papers.Count(r.runs)), inSeconds(r.study.penalty), papers.Summary(r.Results))
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
	fmt.Fprintf(b, "Of %d rows of tables 2 and 5 that were measured %d have a number that is off by more than a factor of 2, %d of them in the mean; %d rows are not accounted for. Of sets with missing instances means alone are compared.\n\n",
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
