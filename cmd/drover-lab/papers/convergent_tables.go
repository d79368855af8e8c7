package papers

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/farm"
)

// tables makes table 1, ours beside the paper's.
func (r *ConvergentReport) tables() {
	s := r.study
	t := &table{text: 2, head: []string{"license ratio", "", "time (ms)", "paper", "smallest", "paper", "mean", "paper", "best", "paper"}}
	more := &table{text: 1, head: []string{"license ratio", "seeds", "instants", "proven", "exact / bound", "greedy / exact, value", "the least", "less usage", "paper", "time", "paper"}}
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
			t.add(name, side.name, ratio(o.time), hundredth(q.time), hundredth(o.smallest), hundredth(q.smallest), hundredth(o.mean), hundredth(q.mean), hundredth(o.best), hundredth(q.best))
		}
		more.add(name, count(l.seeds), grouped(count(l.calls)), percent(float64(l.proven)/float64(l.calls)), ratio(l.bound), ratio(l.value), ratio(l.worst),
			percent(l.distance()), percent(1-p.greedy.mean/p.exact.mean), percent(l.greedy.time/l.exact.time), percent(p.greedy.time/p.exact.time))
	}
	r.add(section{
		title: "Table 1: license usage, branch and bound and the greedy", file: "table-1", table: t,
		says: []string{"Usage of the copies of critical licenses, at every 40th instant of a run of CS_ip; both choose from the same jobs. Times are of one instant, all its clusters together."},
	})
	r.add(section{
		title: "Table 1: how far the greedy is from branch and bound", file: "table-1-distance", table: more,
		says: []string{fmt.Sprintf("Branch and bound gives up after %d nodes in a cluster: so many instants are proven, and elsewhere its value is such a part of its bound.", farm.ExactNodes)},
	})
}

// loadTable has a row for each algorithm, and a column for each load.
func (s *farmStudy) loadsTable(algorithms []string, cell func(k farmKey) (string, bool)) *table {
	t := &table{text: 1, head: []string{"inter-arrival"}}
	for _, a := range farm.Arrivals {
		t.head = append(t.head, count(a))
	}
	t.head = append(t.head, "n")
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
		seeds := count(low)
		if low != high {
			seeds += "-" + count(high)
		}
		if any {
			t.add(append(row, seeds)...)
		}
	}
	return t
}

// figureOf is a cell of one figure.
func (s *farmStudy) figureOf(m farmMeasure, write func(float64) string) func(farmKey) (string, bool) {
	return func(k farmKey) (string, bool) {
		v, ok := s.of(k, m)
		return shown(v, ok, write), ok
	}
}
