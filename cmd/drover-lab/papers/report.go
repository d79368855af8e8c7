package papers

import (
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
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
	Results   []Result
	Questions []Answered

	study    *study
	sections []section
}

// Result is a claim and what was measured.
type Result struct {
	Claim
	Measured   string
	Verdict    Verdict
	Exhaustive Verdict // where sites tune exhaustively
	Why        string  // it differs
}

// Answered is a question and what the rows say to it; nothing where rows lack.
type Answered struct {
	Question
	Says []string
}

// section is a picture and its tables.
type section struct {
	title, file string
	chart       chart.Chart
	table       *table
	overview    *table
	says        []string
	empty       bool
}

// Reallocation makes the report about the paper's section 5. Rows that the plan has
// and that are not there are a *LackingError, unless the report may be partial.
func Reallocation(rows *Rows, o Options) (*Report, error) {
	s := &study{rows: rows, plan: o.Plan, remark: o.Remark}
	if lacking := rows.Lacking(o.Plan); len(lacking) > 0 {
		if !o.Partial {
			return nil, &LackingError{Lacking: lacking, Of: len(o.Plan.experiments())}
		}
		s.lacking = len(lacking)
	}
	r := &Report{study: s}
	for _, f := range figures {
		if err := r.figure(f); err != nil {
			return nil, err
		}
	}
	if err := r.claims(); err != nil {
		return nil, err
	}
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
	r.sections = append(r.sections, section{
		title: f.title(), file: f.file(), chart: f.chart(r.study, boxes), table: t, overview: f.overview(r.study, boxes), empty: len(t.rows) == 0,
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
	r.sections = append(r.sections, section{
		title: q.Asks, file: a.file(), chart: c, table: a.table(false), overview: a.table(true), says: says, empty: a.n == 0,
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
	for _, c := range Claims() {
		f := c.check(r.study)
		result := Result{Claim: c, Measured: f.measured, Verdict: f.verdict, Exhaustive: c.check(&other).verdict}
		if f.verdict == Differs {
			result.Why = why[c.ID]
		}
		r.Results = append(r.Results, result)
	}
	return nil
}

// Files draws the pictures and returns all files of the report.
func (r *Report) Files() ([]File, error) {
	return compose(r.sections, nil, r.page(), r.index)
}

// Write writes all files to a folder, which is made if it is not there. It returns
// their names.
func (r *Report) Write(dir string) ([]string, error) { return write(dir, r.Files) }
