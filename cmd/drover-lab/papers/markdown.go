package papers

import (
	"fmt"
	"strconv"
	"strings"
)

// Schema names the shape of report.json.
const Schema = "drover.sim.repro/1"

// page is report.md.
func (r *Report) page() string {
	return "# Reallocation: what the paper says, and what we measured\n\n" + r.Markdown(2, "")
}

// Markdown returns the report with headings from a level on; folder is where its
// pictures are, seen from the page that it stands in, with a slash at the end.
func (r *Report) Markdown(level int, folder string) string {
	b := &strings.Builder{}
	heading := func(text string) { fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level), text) }
	fmt.Fprintf(b, "%s\n\n", r.summary())
	heading("Claims")
	b.WriteString(r.claimTable().markdown())
	b.WriteString("\n")
	r.explain(b)
	heading("Figures")
	b.WriteString("Each table has the mean, and in brackets the least and the greatest value; quartiles and medians are in the CSV file of the figure's name.\n\n")
	for _, s := range r.sections {
		if strings.HasPrefix(s.file, "figure") {
			s.markdown(b, level+1, folder)
		}
	}
	heading("What the paper left open")
	b.WriteString("Where nothing else is said sites tune exhaustively, as Drover's do. Ways are compared by the mean response time of all jobs of the grid, in parts of that " +
		"without reallocation, on the same jobs and seeds: the jobs that are impacted are others under each way. A difference below 0.005 is none.\n\n")
	for _, s := range r.sections {
		if strings.HasPrefix(s.file, "question") {
			s.markdown(b, level+1, folder)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// summary counts the verdicts.
func (r *Report) summary() string {
	n := map[Verdict]int{}
	for i := range r.Results {
		n[r.Results[i].Verdict]++
	}
	all := len(r.study.plan.experiments())
	text := fmt.Sprintf("%d of the plan's %d experiments. Of %d claims %d hold, %d differ", all-r.study.lacking, all, len(r.Results), n[Holds], n[Differs])
	if n[Open] > 0 {
		text += fmt.Sprintf(", and %d were not measured", n[Open])
	}
	return r.study.remarked(text + ".")
}

func (r *Report) claimTable() *table {
	t := &table{head: []string{"§", "fig.", "claim", "holds if", "measured", "verdict", "with exhaustive tuning"}, text: 7}
	for i := range r.Results {
		c := &r.Results[i]
		number := ""
		if c.Figure > 0 {
			number = strconv.Itoa(c.Figure)
		}
		t.add(c.Section, number, fmt.Sprintf("`%s` %s", c.ID, c.Says), c.Test, c.Measured, c.Verdict.marked(), c.Exhaustive.marked())
	}
	return t
}

// marked is the verdict with what differs in bold.
func (v Verdict) marked() string {
	if v == Differs {
		return "**" + string(v) + "**"
	}
	return string(v)
}

// differing is a list of the claims that differ, and why.
type differing struct{ list strings.Builder }

func (d *differing) note(v Verdict, id, why string) {
	if v != Differs {
		return
	}
	if why == "" {
		why = "not explained yet."
	}
	fmt.Fprintf(&d.list, "- `%s`: %s\n", id, strings.TrimSpace(why))
}

func (d *differing) write(b *strings.Builder) {
	if d.list.Len() > 0 {
		fmt.Fprintf(b, "Why claims differ:\n\n%s\n", d.list.String())
	}
}

// explain says why claims differ.
func (r *Report) explain(b *strings.Builder) {
	var list differing
	for i := range r.Results {
		c := &r.Results[i]
		list.note(c.Verdict, c.ID, c.Why)
	}
	list.write(b)
}

func (s *section) markdown(b *strings.Builder, level int, folder string) {
	fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level), s.title)
	if s.empty {
		b.WriteString("Not measured.\n\n")
		return
	}
	for _, line := range s.says {
		fmt.Fprintf(b, "- %s\n", line)
	}
	if len(s.says) > 0 {
		b.WriteString("\n")
	}
	if s.chart != nil {
		fmt.Fprintf(b, "![%s](%s%s.svg)\n\n", s.title, folder, s.file)
	}
	if s.overview != nil {
		fmt.Fprintf(b, "%s\n", s.overview.markdown())
	}
}

// index is report.json.
func (r *Report) index(files []string) any {
	type claim struct {
		ID       string  `json:"id"`
		Section  string  `json:"section"`
		Figure   int     `json:"figure,omitempty"`
		Says     string  `json:"says"`
		Test     string  `json:"holds_if"`
		Measured string  `json:"measured,omitempty"`
		Verdict  Verdict `json:"verdict"`
		Other    Verdict `json:"exhaustive"`
		Why      string  `json:"why,omitempty"`
	}
	type question struct {
		ID   string   `json:"id"`
		Asks string   `json:"asks"`
		Says []string `json:"says,omitempty"`
	}
	view := struct {
		Schema      string     `json:"schema"`
		Remark      string     `json:"remark,omitempty"`
		Experiments int        `json:"experiments"`
		Lacking     int        `json:"lacking"`
		Claims      []claim    `json:"claims"`
		Questions   []question `json:"questions"`
		Files       []string   `json:"files"`
	}{Files: files, Schema: Schema, Remark: r.study.remark, Experiments: len(r.study.plan.experiments()), Lacking: r.study.lacking}
	for i := range r.Results {
		c := &r.Results[i]
		view.Claims = append(view.Claims, claim{c.ID, c.Section, c.Figure, c.Says, c.Test, c.Measured, c.Verdict, c.Exhaustive, c.Why})
	}
	for i := range r.Questions {
		q := &r.Questions[i]
		view.Questions = append(view.Questions, question{q.ID, q.Asks, q.Says})
	}
	return view
}
