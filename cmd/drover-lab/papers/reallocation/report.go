package reallocation

import (
	_ "embed"
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// Options are how a report is made.
type Options struct {
	Plan Plan
	// Partial makes a report of what rows there are, which says so.
	Partial bool
	// Remark says what is special about all rows, as "quick: the first 14 days".
	Remark string
}

// Report is the figures, the claims and the questions with what was measured.
type Report struct {
	papers.Report

	Results   []papers.Result // Other is the verdict where sites tune exhaustively
	Questions []Answered

	study *study
}

// Answered is a question and what the rows say to it; nothing where rows lack.
type Answered struct {
	Question
	Says []string
}

// NewReport makes the report about the paper's section 5. Rows that the plan has
// and that are not there are a *LackingError, unless the report may be partial.
func NewReport(rows *Rows, o Options) (*Report, error) {
	s := &study{rows: rows, plan: o.Plan, remark: o.Remark}
	if lacking := rows.Lacking(o.Plan); len(lacking) > 0 {
		if !o.Partial {
			return nil, &LackingError{Lacking: lacking, Of: len(o.Plan.experiments())}
		}
		s.lacking = len(lacking)
	}
	r := &Report{study: s}
	r.Title, r.Index = "Reallocation: what the paper says, and what we measured", r.index
	if err := r.claims(); err != nil {
		return nil, err
	}
	r.Add(
		papers.Text(r.summary()),
		papers.Heading("Claims"), &papers.Claims{
			Of: "§", Figures: true, Other: "with exhaustive tuning", Results: r.Results,
		},
		papers.Heading("Figures"), papers.Text(aboutFigures),
	)
	for _, f := range figures {
		if err := r.figure(f); err != nil {
			return nil, err
		}
	}
	r.Add(papers.Heading("What the paper left open"), papers.Text(aboutQuestions))
	for _, q := range Questions() {
		if err := r.question(&q); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Report) figure(f figure) error {
	boxes, err := f.boxes(r.study)
	if err != nil {
		return err
	}
	t := f.table(r.study, boxes)
	r.Add(&papers.Section{
		Deeper: 1, Title: f.title(), File: f.file(), Chart: f.chart(r.study, boxes), Table: t,
		Overview: f.overview(r.study,
			boxes), Empty: len(t.Rows) == 0,
	})
	return nil
}

func (r *Report) question(q *Question) error {
	a := r.study.answer(q)
	c, err := a.chart(r.study)
	if err != nil {
		return err
	}
	says := a.says()
	r.Questions = append(r.Questions, Answered{*q, says})
	r.Add(&papers.Section{
		Deeper: 1, Title: q.Asks, File: a.file(), Chart: c, Table: a.table(false), Overview: a.table(true), Says: says,
		Empty: a.n == 0,
	})
	return nil
}

func (r *Report) claims() error {
	why, err := reasons(whyText)
	if err != nil {
		return err
	}
	other := *r.study
	other.plan.Tuning = exhaustive
	r.Results = papers.Check(Claims(), r.study, why)
	for i, c := range Claims() {
		r.Results[i].Other = c.Check(&other).Verdict
	}
	return nil
}

// Schema names the shape of report.json.
const Schema = "drover.sim.repro/1"

const (
	aboutFigures = "Each table has the mean, and in brackets the least and the greatest value; quartiles and medians " +
		"are in the CSV file of the figure's name."
	aboutQuestions = "Where nothing else is said sites tune exhaustively, as Drover's do. Ways are compared by the " +
		"mean response time of all jobs of the grid, in parts of that " +
		"without reallocation, on the same jobs and seeds: the jobs that are impacted are others under each way. A " +
		"difference below 0.005 does not count."
)

// summary counts the experiments and the verdicts.
func (r *Report) summary() string {
	all := len(r.study.plan.experiments())
	return r.study.remarked(fmt.Sprintf("%d of the plan's %d experiments. %s.", all-r.study.lacking, all,
		papers.Summary(r.Results)))
}

// index is report.json.
func (r *Report) index(files []string) any {
	type question struct {
		ID   string   `json:"id"`
		Asks string   `json:"asks"`
		Says []string `json:"says,omitempty"`
	}
	view := struct {
		Schema      string          `json:"schema"`
		Remark      string          `json:"remark,omitempty"`
		Experiments int             `json:"experiments"`
		Lacking     int             `json:"lacking"`
		Claims      []papers.Result `json:"claims"`
		Questions   []question      `json:"questions"`
		Files       []string        `json:"files"`
	}{
		Files: files, Schema: Schema, Claims: r.Results, Remark: r.study.remark,
		Experiments: len(r.study.plan.experiments()), Lacking: r.study.lacking,
	}
	for i := range r.Questions {
		q := &r.Questions[i]
		view.Questions = append(view.Questions, question{q.ID, q.Asks, q.Says})
	}
	return view
}

//go:embed why.yaml
var whyText []byte

// reasons returns why claims differ, by their IDs.
func reasons(text []byte) (map[string]string, error) {
	why := map[string]string{}
	if err := papers.ReadReasons("why.yaml", text, &why); err != nil {
		return nil, err
	}
	return why, papers.CheckReasons("why.yaml", why, papers.IDs(Claims())...)
}
