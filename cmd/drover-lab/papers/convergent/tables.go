package convergent

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// tables makes table 1, ours beside the paper's.
func (r *Report) tables() {
	s := r.study
	t := &papers.Table{Words: 2, Head: []string{"license ratio", "", "time (ms)", "paper", "smallest", "paper", "mean", "paper", "best", "paper"}}
	more := &papers.Table{Words: 1, Head: []string{"license ratio", "seeds", "instants", "proven", "exact / bound", "greedy / exact, value", "the least", "less usage", "paper", "time", "paper"}}
	for _, p := range paperTable1 {
		l, ok := s.knapsacks(p.ratio)
		if !ok {
			continue
		}
		name := fmt.Sprintf("%d..%d%%", p.ratio.Low, p.ratio.High)
		for _, side := range []struct {
			name         string
			ours, theirs paperKnapsack
		}{{"branch and bound", l.exact, p.exact}, {"greedy", l.greedy, p.greedy}} {
			o, q := &side.ours, &side.theirs
			t.Add(name, side.name, papers.Ratio(o.time), papers.Hundredth(q.time), papers.Hundredth(o.smallest), papers.Hundredth(q.smallest), papers.Hundredth(o.mean), papers.Hundredth(q.mean), papers.Hundredth(o.best), papers.Hundredth(q.best))
		}
		more.Add(name, papers.Count(l.seeds), papers.Grouped(papers.Count(l.calls)), papers.Percent(float64(l.proven)/float64(l.calls)), papers.Ratio(l.bound), papers.Ratio(l.value), papers.Ratio(l.worst),
			papers.Percent(l.distance()), papers.Percent(1-p.greedy.mean/p.exact.mean), papers.Percent(l.greedy.time/l.exact.time), papers.Percent(p.greedy.time/p.exact.time))
	}
	r.add(&papers.Section{
		Title: "Table 1: license usage, branch and bound and the greedy", File: "table-1", Table: t,
		Says: []string{"Usage of the copies of critical licenses, at every 40th instant of a run of CS_ip; both choose from the same jobs. Times are of one instant, all its clusters together."},
	})
	r.add(&papers.Section{
		Title: "Table 1: how far the greedy is from branch and bound", File: "table-1-distance", Table: more,
		Says: []string{fmt.Sprintf("Branch and bound gives up after %d nodes in a cluster: so many instants are proven, and elsewhere its value is such a part of its bound.", farm.ExactNodes)},
	})
}

// loadTable has a row for each algorithm, and a column for each load.
func (s *study) loadsTable(algorithms []string, cell func(k key) (string, bool)) *papers.Table {
	t := &papers.Table{Words: 1, Head: []string{"inter-arrival"}}
	for _, a := range farm.Arrivals {
		t.Head = append(t.Head, papers.Count(a))
	}
	t.Head = append(t.Head, "n")
	for _, a := range algorithms {
		row, any := []string{a}, false
		low, high := 0, 0
		for _, arrival := range farm.Arrivals {
			k := atLoads(a, arrival)
			text, ok := cell(k)
			row = append(row, text)
			if !ok {
				continue
			}
			n := len(s.cells[k].rows)
			if !any || n < low {
				low = n
			}
			high, any = max(high, n), true
		}
		seeds := papers.Count(low)
		if low != high {
			seeds += "-" + papers.Count(high)
		}
		if any {
			t.Add(append(row, seeds)...)
		}
	}
	return t
}

// figureOf is a cell of one figure.
func (s *study) figureOf(m measure, write func(float64) string) func(key) (string, bool) {
	return func(k key) (string, bool) {
		v, ok := s.of(k, m)
		return papers.Shown(v, ok, write), ok
	}
}
