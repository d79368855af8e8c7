package papers

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/farm"
)

// ConvergentReport holds table 1 and the figures of the paper on convergent scheduling
// against ours.
type ConvergentReport struct {
	Results []ConvergentResult
	Meant   []ConvergentResult // the claims about figure 4, read otherwise
	Targets []ConvergentResult // what Drover was to reach

	study    *farmStudy
	runs     int
	remark   string
	sections []section
}

// ConvergentOptions are how the report is made.
type ConvergentOptions struct {
	Quick  bool   // the rows are of a quick plan: farms of a fifth
	Remark string // what is special about the rows
}

// Convergent makes the report of rows, with what they took: as many costs, in the same
// order.
func Convergent(rows []farm.Row, costs []farm.Cost, o ConvergentOptions) (*ConvergentReport, error) {
	s, err := newFarmStudy(rows, costs, o.Quick)
	if err != nil {
		return nil, err
	}
	why, err := convergentReasons(convergentWhyText)
	if err != nil {
		return nil, err
	}
	r := &ConvergentReport{study: s, runs: len(rows), remark: o.Remark}
	check := func(claims []ConvergentClaim) (all []ConvergentResult) {
		for _, c := range claims {
			f := c.check(s)
			result := ConvergentResult{ConvergentClaim: c, Measured: f.measured, Verdict: f.verdict}
			if f.verdict == Differs {
				result.Why = why[c.ID]
			}
			all = append(all, result)
		}
		return all
	}
	r.Results, r.Meant, r.Targets = check(ConvergentClaims()), check(convergentMeant), check(convergentTargets)
	r.tables()
	r.loadFigures()
	r.timeFigures()
	r.openFigures()
	return r, nil
}

func (r *ConvergentReport) add(s section) {
	s.empty = s.table == nil || len(s.table.rows) == 0
	if s.empty {
		s.chart = nil
	}
	if s.overview == nil {
		s.overview = s.table
	}
	r.sections = append(r.sections, s)
}

// seedsOf says how often a run was repeated: "3", or "2 to 5" where that differs.
func (s *farmStudy) seedsOf(set string) string {
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
		return count(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}
