package convergent

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// ConvergentReport holds table 1 and the figures of the paper on convergent scheduling
// against ours.
type Report struct {
	Results []papers.Result
	Meant   []papers.Result // the claims about figure 4, read otherwise
	Targets []papers.Result // what Drover was to reach

	papers.Report

	study  *study
	runs   int
	remark string
}

// ConvergentOptions are how the report is made.
type Options struct {
	Quick  bool   // the rows are of a quick plan: farms of a fifth
	Remark string // what is special about the rows
}

// Convergent makes the report of rows, with what they took: as many costs, in the same
// order.
func NewReport(rows []farm.Row, costs []farm.Cost, o Options) (*Report, error) {
	s, err := newStudy(rows, costs, o.Quick)
	if err != nil {
		return nil, err
	}
	why, err := readReasons(whyText)
	if err != nil {
		return nil, err
	}
	r := &Report{study: s, runs: len(rows), remark: o.Remark}
	r.Results, r.Meant, r.Targets = papers.Check(Claims(), s, why), papers.Check(meantClaims, s, why), papers.Check(targets, s, why)
	r.Title, r.Index = "Convergent scheduling: the paper's table and figures, and ours", r.index
	list := func(of string, results []papers.Result) *papers.Claims {
		return &papers.Claims{Of: of, Results: results, Unexplained: o.Remark != ""}
	}
	r.Add(
		papers.Text(r.About()),
		papers.Heading("What the paper says about convergent scheduling"), list("of", r.Results),
		papers.Heading("Figure 4, if two lines of the paper are misprints"), papers.Text(misprints), list("of", r.Meant),
		papers.Heading("What convergent scheduling was to reach"), list("about", r.Targets),
	)
	r.tables()
	r.loadFigures()
	r.timeFigures()
	r.openFigures()
	return r, nil
}

func (r *Report) add(s *papers.Section) {
	s.Empty = s.Table == nil || len(s.Table.Rows) == 0
	if s.Empty {
		s.Chart = nil
	}
	if s.Overview == nil {
		s.Overview = s.Table
	}
	r.Add(s)
}

// seedsOf says how often a run was repeated: "3", or "2 to 5" where that differs.
func (s *study) seedsOf(set string) string {
	low, high := 0, 0
	for k, c := range s.cells {
		if k.set != set {
			continue
		}
		if n := len(c.rows); low == 0 || n < low {
			low = n
		}
		high = max(high, len(c.rows))
	}
	if low == high {
		return papers.Count(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}
