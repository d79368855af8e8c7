package dynp

import (
	"fmt"
	"math"
	"strconv"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// distance is how far a way's figures are from those of tables 3 and 4.
type distance struct {
	cells      int
	mean, most float64 // of the logarithms of the quotients
	worst      Run
}

// distance returns that of a way on one trace; false if it has not been run.
func (s *study) distance(w dynpWay, trace string) (d distance, ok bool) {
	take := func(r Run, paper float64) bool {
		f := s.runs[r]
		if f == nil {
			return false
		}
		x := apart(f.SLDwA, paper)
		d.cells++
		d.mean += x
		if x > d.most {
			d.most, d.worst = x, r
		}
		return true
	}
	for i, m := range measures {
		if !take(w.run(trace, "advanced", m, false), paperMetrics[trace][i]) {
			return d, false
		}
	}
	for i, decider := range deciders {
		for k, half := range []bool{true, false} {
			if !take(w.run(trace, decider, sldwa, half), paperDeciders[trace][i][k]) {
				return d, false
			}
		}
	}
	d.mean /= float64(d.cells)
	return d, true
}

// overall is the mean distance of a way over all traces.
func (s *study) overall(w dynpWay) (mean float64, ok bool) {
	for _, t := range s.traces {
		d, run := s.distance(w, t.Name)
		if !run {
			return 0, false
		}
		mean += d.mean / float64(len(s.traces))
	}
	return mean, true
}

// closestTolerance returns the way with a tolerance, or none, that is closest to the
// paper over all traces.
func (s *study) closestTolerance() (closest dynpWay, ok bool) {
	least := math.Inf(1)
	for _, w := range dynpWays {
		if mean, run := s.overall(w); run && !w.shared && mean < least {
			closest, least, ok = w, mean, true
		}
	}
	return closest, ok
}

// equalTable says how close each way comes to tables 3 and 4.
func (s *study) equalTable() *papers.Table {
	t := &papers.Table{Head: []string{"trace", "equal", "mean difference", "largest", "which"}, Words: 2}
	for _, trace := range s.traces {
		for _, w := range dynpWays {
			if d, ok := s.distance(w, trace.Name); ok {
				t.Add(trace.Name, w.name, papers.Hundredths(math.Expm1(d.mean)), papers.Hundredths(math.Expm1(d.most)),
					fmt.Sprintf("%s, %s, %s", d.worst.Decider, tuningName(d.worst.Half), d.worst.Metric))
			}
		}
	}
	return t
}

// says are the answers about a trace.
func (s *study) says() []string {
	closest, ok := s.closestTolerance()
	shared, sharedOK := s.overall(sharedWay)
	if !ok || !sharedOK {
		return nil
	}
	mean, _ := s.overall(closest)
	return []string{
		fmt.Sprintf("Of all tolerances %s comes closest to tables 3 and 4, and is off by %s on average.", closest.name,
			papers.Hundredths(math.Expm1(mean))),
		fmt.Sprintf("One list for all policies, compared exactly, is off by %s.",
			papers.Hundredths(math.Expm1(shared))),
	}
}

// equalChart shows how SLDwA goes with the tolerance, and where the paper is and one
// list; nil if no tolerance has been run.
func (s *study) equalChart(trace string) *chart.Lines {
	c := &chart.Lines{
		Title: trace + ": what a tolerance does", XTitle: "plans that differ by no more than this part are " +
			"equal", YTitle: "SLDwA, all jobs",
		Note: "full self-tuning by SLDwA; lines without slope: the paper's figures, and those of one list for all " +
			"policies",
	}
	for i, d := range deciders[:2] {
		line := chart.Line{Name: d + ", ours"}
		for _, w := range dynpWays {
			x, err := strconv.ParseFloat(w.equal, 64)
			f := s.runs[w.run(trace, d, sldwa, false)]
			if err != nil || x == 0 || f == nil {
				continue
			}
			line.X, line.Y = append(line.X, x), append(line.Y, f.SLDwA)
		}
		if len(line.X) == 0 {
			return nil
		}
		level := func(name string, y float64) chart.Line {
			return chart.Line{Name: d + ", " + name, X: []float64{line.X[0], line.X[len(line.X)-1]}, Y: []float64{y, y}}
		}
		c.Lines = append(c.Lines, line, level("paper", paperDeciders[trace][i][1]),
			level(sharedWay.name, s.runs[sharedWay.run(trace, d, sldwa, false)].SLDwA))
	}
	return c
}
