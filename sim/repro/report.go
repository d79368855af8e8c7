package repro

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-9b8f70bb/drover/sim/chart"
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

// File is a file of a report.
type File struct {
	Name string
	Data []byte
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
	files, err := filesOf(r.sections)
	if err != nil {
		return nil, err
	}
	files = append(files, File{"report.md", []byte(r.page())})
	index, err := r.json(files)
	if err != nil {
		return nil, err
	}
	return append(files, File{"report.json", index}), nil
}

// filesOf returns the files of sections.
func filesOf(sections []section) (files []File, err error) {
	for i := range sections {
		some, err := sections[i].files()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sections[i].file, err)
		}
		files = append(files, some...)
	}
	return files, nil
}

// files returns those of a section: its picture, and its table, as far as it has
// them. What has no rows has none.
func (s *section) files() (files []File, err error) {
	if s.empty {
		return nil, nil
	}
	if s.chart != nil {
		svg, err := chart.SVG(s.chart)
		if err != nil {
			return nil, err
		}
		png, err := chart.PNG(s.chart)
		if err != nil {
			return nil, err
		}
		files = append(files, File{s.file + ".svg", svg}, File{s.file + ".png", png})
	}
	if s.table != nil {
		csv, err := s.table.csv()
		if err != nil {
			return nil, err
		}
		files = append(files, File{s.file + ".csv", csv}, File{s.file + ".md", []byte(s.table.markdown())})
	}
	return files, nil
}

// Write writes all files to a folder, which is made if it is not there. It returns
// their names.
func (r *Report) Write(dir string) ([]string, error) {
	files, err := r.Files()
	if err != nil {
		return nil, err
	}
	return writeAll(dir, files)
}

func writeAll(dir string, files []File) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	var names []string
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			return nil, fmt.Errorf("output: %w", err)
		}
		names = append(names, f.Name)
	}
	return names, nil
}
