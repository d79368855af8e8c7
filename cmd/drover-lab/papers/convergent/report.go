package convergent

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
)

// Report holds table 1 and the figures of the paper on convergent scheduling
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

// Options are how the report is made.
type Options struct {
	Quick  bool   // the rows are of a quick plan: farms of a fifth
	Remark string // what is special about the rows
}

// NewReport makes the report of rows, with what they took: as many costs, in the same
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
	r.Results, r.Meant, r.Targets = papers.Check(Claims(), s, why), papers.Check(meantClaims, s,
		why), papers.Check(targets, s, why)
	r.Title, r.Index = "Convergent scheduling: the paper's table and figures, and ours", r.index
	list := func(of string, results []papers.Result) *papers.Claims {
		return &papers.Claims{Of: of, Results: results, Unexplained: o.Remark != ""}
	}
	r.Add(
		papers.Text(r.About()),
		papers.Heading("What the paper says about convergent scheduling"), list("of", r.Results),
		papers.Heading("Figure 4, if two lines of the paper are misprints"), papers.Text(misprints),
		list("of", r.Meant), papers.Heading("What convergent scheduling was to reach"), list("about", r.Targets),
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

// Schema names the shape of the report about convergent scheduling in JSON.
const Schema = "drover.sim.repro-convergent/1"

// misprints introduces the claims that hold if two lines of the paper are misprints.
const misprints = "The printed f1 of the Deadline heuristic is the least where a machine would miss the deadline, so " +
	"such machines attract as much as the fastest; the paper's words say that " +
	"a high f1 means that the job would be late there. `avoid` does what the words say. EDF is said to order jobs " +
	"\"in decreasing order w.r.t. their deadline\": `order=latest` does."

// About says what was run, and counts the verdicts.
func (r *Report) About() string {
	s := fmt.Sprintf("%s runs; seeds of the loads: %s of %d, of the knapsacks: %s of %d. %s; of %d targets %d are "+
		"reached",
		papers.Grouped(papers.Count(r.runs)), r.study.seedsOf(farm.Loads), farm.Seeds, r.study.seedsOf(farm.Knapsacks),
		farm.Seeds,
		papers.Summary(r.Results), len(r.Targets), papers.CountOf(r.Targets, papers.Holds))
	if r.remark != "" {
		s += ". Not the whole: " + r.remark
	}
	return s + "."
}

// index is report.json.
func (r *Report) index(files []string) any {
	return struct {
		Schema  string          `json:"schema"`
		About   string          `json:"about"`
		Claims  []papers.Result `json:"claims"`
		Meant   []papers.Result `json:"meant"`
		Targets []papers.Result `json:"targets"`
		Files   []string        `json:"files"`
	}{Schema, r.About(), r.Results, r.Meant, r.Targets, files}
}

// tables makes table 1, ours beside the paper's.
func (r *Report) tables() {
	s := r.study
	t := &papers.Table{Words: 2, Head: []string{
		"license ratio", "", "time (ms)", "paper", "smallest", "paper", "mean",
		"paper", "best", "paper",
	}}
	more := &papers.Table{Words: 1, Head: []string{
		"license ratio", "seeds", "instants", "proven", "exact / bound",
		"greedy / exact, value", "the least", "less usage", "paper", "time", "paper",
	}}
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
			t.Add(name, side.name, papers.Ratio(o.time), papers.Hundredth(q.time), papers.Hundredth(o.smallest),
				papers.Hundredth(q.smallest), papers.Hundredth(o.mean), papers.Hundredth(q.mean),
				papers.Hundredth(o.best), papers.Hundredth(q.best))
		}
		more.Add(name, papers.Count(l.seeds), papers.Grouped(papers.Count(l.calls)),
			papers.Percent(float64(l.proven)/float64(l.calls)), papers.Ratio(l.bound), papers.Ratio(l.value),
			papers.Ratio(l.worst),
			papers.Percent(l.distance()), papers.Percent(1-p.greedy.mean/p.exact.mean),
			papers.Percent(l.greedy.time/l.exact.time), papers.Percent(p.greedy.time/p.exact.time))
	}
	r.add(&papers.Section{
		Title: "Table 1: license usage, branch and bound and the greedy", File: "table-1", Table: t,
		Says: []string{"Usage of the copies of critical licenses, at every 40th instant of a run of CS_ip; both " +
			"choose from the same jobs. Times are of one instant, all its clusters together."},
	})
	r.add(&papers.Section{
		Title: "Table 1: how far the greedy is from branch and bound", File: "table-1-distance", Table: more,
		Says: []string{fmt.Sprintf("Branch and bound gives up after %d nodes in a cluster: so many instants are "+
			"proven, and "+
			"elsewhere its value is such a part of its bound.", farm.ExactNodes)},
	})
}

// loadsTable has a row for each algorithm, and a column for each load.
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

//go:embed why.yaml
var whyText []byte

// readReasons reads why claims differ, by the claim's ID.
func readReasons(text []byte) (map[string]string, error) {
	why := struct {
		Claims map[string]string `yaml:"claims"`
	}{}
	if err := papers.ReadReasons("convergent/why.yaml", text, &why); err != nil {
		return nil, err
	}
	ids := papers.IDs(slices.Concat(Claims(), meantClaims, targets))
	return why.Claims, papers.CheckReasons("convergent/why.yaml", why.Claims, ids...)
}
