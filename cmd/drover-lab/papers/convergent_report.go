package papers

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/farm"
)

// ConvergentSchema names the shape of the report about convergent scheduling in JSON.
const ConvergentSchema = "drover.sim.repro-convergent/1"

// The lines of a page between which the report stands.
const (
	ConvergentBegin = "<!-- begin: drover-lab repro convergent -->\n"
	ConvergentEnd   = "<!-- end: drover-lab repro convergent -->\n"
)

// Markdown returns the report with headings from a level on; folder is where its
// pictures are, seen from the page that it stands in, with a slash at the end.
func (r *ConvergentReport) Markdown(level int, folder string) string {
	b := &strings.Builder{}
	heading := func(text string) { fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level), text) }
	fmt.Fprintf(b, "%s\n\n", r.About())
	heading("What the paper says about convergent scheduling")
	r.list(b, "of", r.Results)
	heading("Figure 4, if two lines of the paper are misprints")
	b.WriteString("The printed f1 of the Deadline heuristic is the least where a machine would miss the deadline, so such machines attract as much as the fastest; the paper's words say that " +
		"a high f1 means that the job would be late there. `avoid` does what the words say. EDF is said to order jobs \"in decreasing order w.r.t. their deadline\": `order=latest` does.\n\n")
	r.list(b, "of", r.Meant)
	heading("What convergent scheduling was to reach")
	r.list(b, "about", r.Targets)
	for i := range r.sections {
		r.sections[i].markdown(b, level, folder)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// About says what was run, and counts the verdicts.
func (r *ConvergentReport) About() string {
	n := map[Verdict]int{}
	for i := range r.Results {
		n[r.Results[i].Verdict]++
	}
	reached := 0
	for i := range r.Targets {
		if r.Targets[i].Verdict == Holds {
			reached++
		}
	}
	s := fmt.Sprintf("%s runs; seeds of the loads: %s of %d, of the knapsacks: %s of %d. Of %d claims %d hold, %d differ",
		grouped(count(r.runs)), r.study.seedsOf(farm.Loads), farm.Seeds, r.study.seedsOf(farm.Knapsacks), farm.Seeds, len(r.Results), n[Holds], n[Differs])
	if n[Open] > 0 {
		s += fmt.Sprintf(", and %d were not measured", n[Open])
	}
	s += fmt.Sprintf("; of %d targets %d are reached", len(r.Targets), reached)
	if r.remark != "" {
		s += ". Not the whole: " + r.remark
	}
	return s + "."
}

// list writes claims, and why some differ.
func (r *ConvergentReport) list(b *strings.Builder, of string, results []ConvergentResult) {
	t := &table{head: []string{of, "claim", "holds if", "measured", "verdict"}, text: 5}
	var why differing
	for i := range results {
		c := &results[i]
		t.add(c.Of, fmt.Sprintf("`%s` %s", c.ID, c.Says), c.Test, c.Measured, c.Verdict.marked())
		why.note(c.Verdict, c.ID, c.Why)
	}
	fmt.Fprintf(b, "%s\n", t.markdown())
	if r.remark == "" { // what has been written down explains the figures of the paper's runs
		why.write(b)
	}
}

// Files draws the pictures and returns all files of the report, but for the rows: whoever
// has run them has them.
func (r *ConvergentReport) Files() ([]File, error) {
	return compose(r.sections, nil, "# Convergent scheduling: the paper's table and figures, and ours\n\n"+r.Markdown(2, ""), r.index)
}

// Write writes all files to a folder, which is made if it is not there. It returns
// their names.
func (r *ConvergentReport) Write(dir string) ([]string, error) { return write(dir, r.Files) }

// index is report.json.
func (r *ConvergentReport) index(files []string) any {
	type claim struct {
		ID       string  `json:"id"`
		Of       string  `json:"of"`
		Says     string  `json:"says"`
		Test     string  `json:"holds_if"`
		Measured string  `json:"measured,omitempty"`
		Verdict  Verdict `json:"verdict"`
		Why      string  `json:"why,omitempty"`
	}
	view := struct {
		Schema  string   `json:"schema"`
		About   string   `json:"about"`
		Claims  []claim  `json:"claims"`
		Meant   []claim  `json:"meant"`
		Targets []claim  `json:"targets"`
		Files   []string `json:"files"`
	}{Files: files, Schema: ConvergentSchema, About: r.About()}
	claims := func(results []ConvergentResult) (all []claim) {
		for i := range results {
			c := &results[i]
			all = append(all, claim{c.ID, c.Of, c.Says, c.Test, c.Measured, c.Verdict, c.Why})
		}
		return all
	}
	view.Claims, view.Meant, view.Targets = claims(r.Results), claims(r.Meant), claims(r.Targets)
	return view
}
