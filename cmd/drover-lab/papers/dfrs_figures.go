package papers

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/fractional"
)

// Figure 1 has more lines than one picture can show: it is drawn as two, with EASY and
// the default in both.
var (
	figureOneGreedy = []string{
		fractional.EASY, "Greedy*/opt=min", "GreedyPM*/opt=min", "Greedy/per/opt=min", "GreedyPM/per/opt=min", "Greedy*/per/opt=min", "GreedyPM*/per/opt=min", dfrsDefault,
	}
	figureOnePacked = []string{
		fractional.EASY, "MCB8*/opt=min/minvt=600", "MCB8/per/opt=min/minvt=600", "MCB8*/per/opt=min/minvt=600", "/per/opt=min/minvt=600", "/stretch-per/opt=max/minvt=600",
		"GreedyPM/per/opt=min/minvt=600", dfrsDefault,
	}
)

// figureOne are all algorithms of figure 1.
func figureOne() []string {
	all := slices.Clone(figureOneGreedy)
	for _, a := range figureOnePacked {
		all = including(all, a)
	}
	return all
}

// figures draws figures 1, 3 and 4.
func (r *DFRSReport) figures() {
	s := r.study
	add := func(file, title string, c *chart.Lines, t, overview *table, says ...string) {
		if c != nil {
			c.Title = title
		}
		sec := section{title: title, file: file, table: t, overview: overview, says: says, empty: c == nil || len(c.Lines) == 0}
		if !sec.empty {
			sec.chart = c
		}
		r.sections = append(r.sections, sec)
	}
	loads := s.loadTable(figureOne())
	add("figure-1-greedy", "Figure 1: degradation from bound by load, greedy algorithms", s.loadLines(figureOneGreedy, r.tablePeriods()), s.loadTable(figureOneGreedy), nil)
	add("figure-1-mcb8", "Figure 1: degradation from bound by load, the others beside the best", s.loadLines(figureOnePacked, r.tablePeriods()), s.loadTable(figureOnePacked), loads,
		"Figure 1 is drawn as two, with EASY and the best in both; the table has all.")
	for i, set := range dfrsSets {
		t := s.periodTable(set.id)
		add(fmt.Sprintf("figure-3%c", 'a'+i), fmt.Sprintf("Figure 3%c: underutilization by period, %s", 'a'+i, set.name), s.underuseLines(set.id), t, t)
	}
	t := s.periodsTable()
	add("figure-4", "Figure 4: degradation from bound by period", s.degradationLines(), t, t)
	r.beyond()
}

// loadLines is figure 1: both axes of the paper, degradation on the logarithmic one.
func (s *dfrsStudy) loadLines(algorithms []string, note string) *chart.Lines {
	c := &chart.Lines{LinearX: true, XTitle: "load", YTitle: "degradation from bound, mean", Note: note}
	for _, a := range algorithms {
		l := chart.Line{Name: a}
		for load := 1; load < heavy; load++ {
			if v, ok := s.stat(fractional.Scaled, load, a, tablePeriod, degradation); ok && v.avg > 0 {
				l.X, l.Y = append(l.X, float64(load)/10), append(l.Y, v.avg)
			}
		}
		if len(l.X) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	return c
}

func (s *dfrsStudy) loadTable(algorithms []string) *table {
	t := &table{text: 1, head: []string{"algorithm"}}
	for load := 1; load < heavy; load++ {
		t.head = append(t.head, strconv.FormatFloat(float64(load)/10, 'f', 1, 64))
	}
	for _, a := range algorithms {
		row, any := []string{a}, false
		for load := 1; load < heavy; load++ {
			v, ok := s.stat(fractional.Scaled, load, a, tablePeriod, degradation)
			any = any || ok
			row = append(row, shown(v.avg, ok, tenth))
		}
		if any {
			t.add(row...)
		}
	}
	return t
}

// shown writes a figure that there is.
func shown(v float64, ok bool, write func(float64) string) string {
	if !ok {
		return ""
	}
	return write(v)
}

func (s *dfrsStudy) alongPeriods(set string, m measure) (l chart.Line) {
	for _, p := range s.periods(set) {
		v, _ := s.stat(set, whole, dfrsDefault, p, m)
		l.X, l.Y = append(l.X, p.Seconds()), append(l.Y, v.avg)
	}
	return l
}

// underuseLines is figure 3: EASY, which has no period, is a line across.
func (s *dfrsStudy) underuseLines(set string) *chart.Lines {
	l := s.alongPeriods(set, underused)
	if len(l.X) == 0 {
		return nil
	}
	l.Name = dfrsDefault
	c := &chart.Lines{
		Linear: true, XTitle: "period (s)", YTitle: "normalized underutilization, mean", Lines: []chart.Line{l},
		Note: fmt.Sprintf("%d instances, penalty %s", s.instances[dfrsPart{set, whole}], inSeconds(s.penalty)),
	}
	if v, ok := s.at(set, fractional.EASY, underused); ok {
		c.Rule = &chart.Rule{At: v.avg, Label: fractional.EASY}
	}
	return c
}

func (s *dfrsStudy) periodTable(set string) *table {
	t := &table{head: []string{"period", dfrsDefault, "EASY"}}
	easy, ok := s.at(set, fractional.EASY, underused)
	for _, p := range s.periods(set) {
		v, _ := s.stat(set, whole, dfrsDefault, p, underused)
		t.add(inSeconds(p), ratio(v.avg), shown(easy.avg, ok, ratio))
	}
	return t
}

// degradationLines is figure 4.
func (s *dfrsStudy) degradationLines() *chart.Lines {
	c := &chart.Lines{
		Linear: true, XTitle: "period (s)", YTitle: "degradation from bound, mean",
		Note: fmt.Sprintf("%s, penalty %s", dfrsDefault, inSeconds(s.penalty)),
	}
	for _, set := range dfrsSets {
		l := s.alongPeriods(set.id, degradation)
		l.Name = set.name
		if len(l.X) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	return c
}

// periodsTable has what a longer period costs and saves.
func (s *dfrsStudy) periodsTable() *table {
	t := &table{head: []string{"period"}}
	var periods []batch.Duration
	for _, set := range dfrsSets {
		t.head = append(t.head, set.name)
		for _, p := range s.periods(set.id) {
			periods = including(periods, p)
		}
	}
	t.head = append(t.head, "GB/s, scaled, load 0.7 and more")
	slices.Sort(periods)
	for _, p := range periods {
		row := []string{inSeconds(p)}
		for _, set := range dfrsSets {
			v, ok := s.stat(set.id, whole, dfrsDefault, p, degradation)
			row = append(row, shown(v.avg, ok, tenth))
		}
		v, ok := s.stat(fractional.Scaled, heavy, dfrsDefault, p, movedGB)
		t.add(append(row, shown(v.avg, ok, hundredth))...)
	}
	return t
}
