package dfrs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// Report holds the tables and figures of the paper on dynamic fractional resource
// scheduling against ours.
type Report struct {
	papers.Report

	Results []papers.Result
	Off     []Off

	study  *study
	runs   int
	remark string
}

// recommended is the paper's recommendation.
const recommended = fractional.Default

// The periods: of the tables, of section 6.4.2's advice (ten penalties), of its advice
// in passing (one hour), and the end of the figures.
const (
	tablePeriod       = fractional.Period
	recommendedPeriod = fractional.Recommended
	hourPeriod        = 3600 * batch.Second
	lastPeriod        = 12_000 * batch.Second
)

// sets are those of the paper, with the number of their instances.
var sets = []struct {
	id, name string
	of       int
}{
	{fractional.HPC2N, "HPC2N", 182},
	{fractional.Unscaled, "unscaled synthetic", 100},
	{fractional.Scaled, "scaled synthetic", 900},
}

// The parts of a set that figures are of: all of it, its load in tenths, or the loads of
// table 3.
const (
	whole = 0
	heavy = 10
)

// key names a cell.
type key struct {
	set       string
	part      int
	algorithm string
	period    batch.Duration
}

// cell sums up the instances of a part of a set under one algorithm.
type cell struct {
	n     int
	stats [measureCount]stat
}

// study is what the rows say.
type study struct {
	cells     map[key]*cell
	instances map[setPart]int // that any row is of
	pairs     []versus
	penalty   batch.Duration
}

type setPart struct {
	set  string
	part int
}

// NewReport makes the report of rows, all with one penalty. remark says what is special about
// them.
func NewReport(rows []fractional.Row, remark string) (*Report, error) {
	s, err := newStudy(rows)
	if err != nil {
		return nil, err
	}
	r := &Report{study: s, runs: len(rows), remark: remark}
	why, err := readReasons(whyText)
	if err != nil {
		return nil, err
	}
	r.Results = papers.Check(Claims(), s, why.Claims)
	r.Off = s.off(why)
	r.Title, r.Index = "DFRS: the paper's tables and figures, and ours", r.index
	r.Add(papers.Text(r.About()))
	if lacking := s.lacking(); len(lacking) > 0 {
		r.Add(papers.Text("What is missing (figures of it are blank):\n\n- " + strings.Join(lacking, "\n- ")))
	}
	r.Add(
		papers.Heading("What the paper says about DFRS"),
		&papers.Claims{Of: "§", Results: r.Results, Unexplained: remark != ""},
		papers.Heading("What is off by more than a factor of 2"), papers.Text(r.offs()),
	)
	r.tables()
	r.figures()
	return r, nil
}

func newStudy(rows []fractional.Row) (*study, error) {
	s := &study{cells: map[key]*cell{}, instances: map[setPart]int{}}
	of := map[key][]*fractional.Row{}
	seen := map[fractional.Case]bool{}
	known := map[fractional.Case]bool{}
	for i := range rows {
		row := &rows[i]
		if i > 0 && row.Penalty != rows[0].Penalty {
			return nil, fmt.Errorf("rows with penalties of %v and %v, accepted: one of them", rows[0].Penalty,
				row.Penalty)
		}
		s.penalty = row.Penalty
		if seen[row.Case] {
			continue
		}
		seen[row.Case] = true
		instance := fractional.Case{Set: row.Set, Trace: row.Trace, Load: row.Load}
		for _, part := range partsOf(row) {
			if !known[instance] {
				s.instances[setPart{row.Set, part}]++
			}
			k := key{row.Set, part, row.Algorithm, row.Period}
			of[k] = append(of[k], row)
		}
		known[instance] = true
	}
	for k, rows := range of {
		s.cells[k] = newCell(rows)
	}
	s.compare(rows)
	return s, nil
}

func partsOf(row *fractional.Row) []int {
	switch {
	case row.Set != fractional.Scaled:
		return []int{whole}
	case row.Load >= fractional.Table3Load:
		return []int{whole, row.Load, heavy}
	}
	return []int{whole, row.Load}
}

// periodOf returns 0 for algorithms that do nothing periodically, else the period.
func periodOf(algorithm string, period batch.Duration) batch.Duration {
	if !fractional.Periodic(algorithm) {
		return 0
	}
	return period
}

// cell returns the figures of all instances that there are; nil if there are rows of
// some of them only.
func (s *study) cell(set string, part int, algorithm string, period batch.Duration) *cell {
	c := s.cells[key{set, part, algorithm, periodOf(algorithm, period)}]
	if c == nil || c.n < s.instances[setPart{set, part}] {
		return nil
	}
	return c
}

// at returns a figure of a whole set with the period of the tables.
func (s *study) at(set, algorithm string, m measure) (stat, bool) {
	return s.stat(set, whole, algorithm, tablePeriod, m)
}

func (s *study) stat(set string, part int, algorithm string, period batch.Duration, m measure) (stat, bool) {
	c := s.cell(set, part, algorithm, period)
	if c == nil {
		return stat{}, false
	}
	return c.stats[m], true
}

// periods returns those of the default on a set, rising.
func (s *study) periods(set string) []batch.Duration {
	var all []batch.Duration
	for k := range s.cells {
		if k.set == set && k.part == whole && k.algorithm == recommended && s.cell(set, whole, recommended,
			k.period) != nil {
			all = append(all, k.period)
		}
	}
	slices.Sort(all)
	return all
}

// inSeconds writes a period as the paper does.
func inSeconds(d batch.Duration) string {
	return papers.Grouped(strconv.FormatFloat(d.Seconds(), 'f', -1, 64)) + " s"
}

// measure is a figure of a row.
type measure int

// The measures. Bandwidth is in GB a second.
const (
	degradation measure = iota
	meanStretch
	underused
	preemptedGB
	migratedGB
	movedGB // both
	preemptedHour
	migratedHour
	preemptedJob
	migratedJob
	measureCount
)

func measured(r *fractional.Row) (v [measureCount]float64) {
	v[degradation], v[meanStretch], v[underused] = r.Degradation(), r.MeanStretch, r.Underutilization()
	v[preemptedGB], v[migratedGB] = r.Bandwidth()
	v[movedGB] = v[preemptedGB] + v[migratedGB]
	v[preemptedHour], v[migratedHour] = r.PerHour()
	v[preemptedJob], v[migratedJob] = r.PerJob()
	return v
}

// stat sums up a figure over instances.
type stat struct {
	avg, std, max float64
}

// newCell takes the standard deviation of a sample: the squares are divided by n-1.
func newCell(rows []*fractional.Row) *cell {
	c := &cell{n: len(rows)}
	n := float64(len(rows))
	for i, r := range rows {
		for m, v := range measured(r) {
			s := &c.stats[m]
			s.avg += v / n
			if i == 0 || v > s.max {
				s.max = v
			}
		}
	}
	if len(rows) < 2 {
		return c
	}
	for _, r := range rows {
		for m, v := range measured(r) {
			d := v - c.stats[m].avg
			c.stats[m].std += d * d / (n - 1)
		}
	}
	for m := range c.stats {
		c.stats[m].std = math.Sqrt(c.stats[m].std)
	}
	return c
}

// dfrsNeed is what a table or a figure is made of: algorithms on a part of a set, with
// the period of the tables.
type dfrsNeed struct {
	by         string
	set        string
	part       int
	algorithms []string
}

func dfrsNeeds() []dfrsNeed {
	var all []dfrsNeed
	for _, set := range sets {
		all = append(all, dfrsNeed{"tables 2 and 4", set.id, whole, algorithmsOf(paperTable2)})
	}
	return append(all,
		dfrsNeed{"table 3", fractional.Scaled, heavy, algorithmsOf(paperTable3)},
		dfrsNeed{"table 5", fractional.HPC2N, whole, algorithmsOf(paperTable5)},
	)
}

// fewest is how many periods figures 3 and 4 have at least.
const fewest = 3

// lacking names what there are no rows of.
func (s *study) lacking() []string {
	var all []string
	for _, set := range sets {
		if n := s.instances[setPart{set.id, whole}]; n < set.of {
			all = append(all, fmt.Sprintf("%s: %d of %d instances.", set.name, n, set.of))
		}
	}
	for _, need := range dfrsNeeds() {
		if s.instances[setPart{need.set, need.part}] == 0 {
			continue // the set itself lacks, as said above
		}
		var names []string
		for _, algorithm := range need.algorithms {
			if s.cell(need.set, need.part, algorithm, tablePeriod) == nil {
				names = append(names, s.incomplete(need, algorithm))
			}
		}
		if len(names) > 0 {
			all = append(all, fmt.Sprintf("%s, %s: %d of %d algorithms lack: %s.",
				sentence(need.by), need.set, len(names), len(need.algorithms), shortened(names)))
		}
	}
	for _, set := range sets {
		if n := len(s.periods(set.id)); n < fewest && s.instances[setPart{set.id, whole}] > 0 {
			all = append(all, fmt.Sprintf("Figures 3 and 4, %s: %d periods of `%s`.", set.id, n, recommended))
		}
		if s.cell(set.id, whole, recommended, recommendedPeriod) == nil && s.instances[setPart{set.id, whole}] > 0 {
			all = append(all, fmt.Sprintf("`%s` with %s, %s.", recommended, inSeconds(recommendedPeriod), set.id))
		}
	}
	return all
}

// incomplete says how many rows an algorithm has, if it has some.
func (s *study) incomplete(need dfrsNeed, algorithm string) string {
	c := s.cells[key{need.set, need.part, algorithm, periodOf(algorithm, tablePeriod)}]
	if c == nil {
		return "`" + algorithm + "`"
	}
	return fmt.Sprintf("`%s` (%d of %d instances)", algorithm, c.n, s.instances[setPart{need.set, need.part}])
}

// shortened lists names, of many the first ones.
func shortened(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// others are algorithms with rows on any set that the paper has no figures of, but for
// those with settings of their own, with the periods of their rows.
func (s *study) others() []dfrsWay {
	var all []dfrsWay
	for k := range s.cells {
		w := dfrsWay{k.algorithm, k.period}
		if !strings.Contains(k.algorithm, " ") && !slices.Contains(algorithmsOf(paperTable5), k.algorithm) &&
			!slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b dfrsWay) int {
		if c := strings.Compare(a.algorithm, b.algorithm); c != 0 {
			return c
		}
		return int(min(1, max(-1, a.period-b.period)))
	})
	return all
}

// dfrsWay is an algorithm with a period.
type dfrsWay struct {
	algorithm string
	period    batch.Duration
}

func (w dfrsWay) String() string {
	if w.period == 0 {
		return w.algorithm
	}
	return fmt.Sprintf("%s, period %s", w.algorithm, inSeconds(w.period))
}
