package papers

import (
	"fmt"
	"strings"
)

// DFRSSchema names the shape of the report about fractional scheduling in JSON.
const DFRSSchema = "drover.sim.repro-dfrs/1"

// The lines of a page between which the report stands.
const (
	DFRSBegin = "<!-- begin: drover-lab repro dfrs -->\n"
	DFRSEnd   = "<!-- end: drover-lab repro dfrs -->\n"
)

// Markdown returns the report with headings from a level on; folder is where its
// pictures are, seen from the page that it stands in, with a slash at the end.
func (r *DFRSReport) Markdown(level int, folder string) string {
	b := &strings.Builder{}
	heading := func(text string) { fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level), text) }
	fmt.Fprintf(b, "%s\n\n", r.About())
	if lacking := r.study.lacking(); len(lacking) > 0 {
		b.WriteString("What is missing (figures of it are blank):\n\n")
		for _, l := range lacking {
			fmt.Fprintf(b, "- %s\n", l)
		}
		b.WriteString("\n")
	}
	heading("What the paper says about DFRS")
	r.claims(b)
	heading("What is off by more than a factor of 2")
	r.offs(b)
	for i := range r.sections {
		r.sections[i].markdown(b, level, folder)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// About says what was run, and counts the verdicts.
func (r *DFRSReport) About() string {
	n := map[Verdict]int{}
	for i := range r.Results {
		n[r.Results[i].Verdict]++
	}
	s := fmt.Sprintf("%s runs, penalty %s. Of %d claims %d hold, %d differ", grouped(count(r.runs)), inSeconds(r.study.penalty), len(r.Results), n[Holds], n[Differs])
	if n[Open] > 0 {
		s += fmt.Sprintf(", and %d were not measured", n[Open])
	}
	if r.remark != "" {
		s += ". Not the whole: " + r.remark
	}
	return s + "."
}

func (r *DFRSReport) claims(b *strings.Builder) {
	t := &table{head: []string{"§", "claim", "holds if", "measured", "verdict"}, text: 5}
	for i := range r.Results {
		c := &r.Results[i]
		t.add(c.Section, fmt.Sprintf("`%s` %s", c.ID, c.Says), c.Test, c.Measured, c.Verdict.marked())
	}
	fmt.Fprintf(b, "%s\n", t.markdown())
	if r.remark != "" {
		return // what has been written down explains the figures of all runs
	}
	var list differing
	for i := range r.Results {
		c := &r.Results[i]
		list.note(c.Verdict, c.ID, c.Why)
	}
	list.write(b)
}

// offs lists what is off with the number of its reason, and then the reasons.
func (r *DFRSReport) offs(b *strings.Builder) {
	if len(r.Off) == 0 {
		b.WriteString("Nothing that was measured.\n\n")
		return
	}
	t := &table{head: []string{"set", "algorithm", "of", "ours", "paper", "ours/paper", "why"}, text: 3}
	var reasons []string
	for i := range r.Off {
		o := &r.Off[i]
		why := "**not accounted for**"
		if o.Why != "" {
			reasons = including(reasons, o.Why)
			for k, reason := range reasons {
				if reason == o.Why {
					why = fmt.Sprintf("(%d)", k+1)
				}
			}
		}
		t.add(o.Set, o.Algorithm, o.Of, tenth(o.Ours), tenth(o.Paper), times(o.Ours, o.Paper), why)
	}
	rows, open := r.rowsOff()
	fmt.Fprintf(b, "Of %d rows of tables 2 and 5 that were measured %d have a number that is off by more than a factor of 2, %d of them in the mean; %d rows are not accounted for. Of sets with missing instances means alone are compared.\n\n",
		r.study.measuredRows(), rows, r.meansOff(), open)
	fmt.Fprintf(b, "%s\n", t.markdown())
	for i, reason := range reasons {
		fmt.Fprintf(b, "%d. %s\n", i+1, strings.TrimSpace(reason))
	}
	if len(reasons) > 0 {
		b.WriteString("\n")
	}
}

// rowsOff counts rows with a number that is off, and those with one that has no reason.
func (r *DFRSReport) rowsOff() (rows, open int) {
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

func (r *DFRSReport) meansOff() (n int) {
	for i := range r.Off {
		if r.Off[i].Of == "avg" {
			n++
		}
	}
	return n
}

func (s *dfrsStudy) measuredRows() (n int) {
	for _, p := range dfrsPaperRows() {
		if s.cell(p.set, whole, p.algorithm, tablePeriod) != nil {
			n++
		}
	}
	return n
}

// Files draws the pictures and returns all files of the report, but for the rows: whoever
// has run them has them.
func (r *DFRSReport) Files() ([]File, error) {
	return compose(r.sections, nil, "# DFRS: the paper's tables and figures, and ours\n\n"+r.Markdown(2, ""), r.index)
}

// Write writes all files to a folder, which is made if it is not there. It returns
// their names.
func (r *DFRSReport) Write(dir string) ([]string, error) { return write(dir, r.Files) }

// index is report.json.
func (r *DFRSReport) index(files []string) any {
	type claim struct {
		ID       string  `json:"id"`
		Section  string  `json:"section"`
		Says     string  `json:"says"`
		Test     string  `json:"holds_if"`
		Measured string  `json:"measured,omitempty"`
		Verdict  Verdict `json:"verdict"`
		Why      string  `json:"why,omitempty"`
	}
	type off struct {
		Set       string  `json:"set"`
		Algorithm string  `json:"algorithm"`
		Of        string  `json:"of"`
		Ours      float64 `json:"ours"`
		Paper     float64 `json:"paper"`
		Why       string  `json:"why,omitempty"`
	}
	view := struct {
		Schema  string   `json:"schema"`
		About   string   `json:"about"`
		Lacking []string `json:"lacking,omitempty"`
		Claims  []claim  `json:"claims"`
		Off     []off    `json:"off"`
		Files   []string `json:"files"`
	}{Files: files, Schema: DFRSSchema, About: r.About(), Lacking: r.study.lacking(), Off: []off{}}
	for i := range r.Results {
		c := &r.Results[i]
		view.Claims = append(view.Claims, claim{c.ID, c.Section, c.Says, c.Test, c.Measured, c.Verdict, c.Why})
	}
	for _, o := range r.Off {
		view.Off = append(view.Off, off(o))
	}
	return view
}
