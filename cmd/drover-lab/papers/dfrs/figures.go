package dfrs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
)

// Figure 1 has more lines than one picture can show: it is drawn as two, with EASY and
// the default in both.
var (
	figureOneGreedy = []string{
		fractional.EASY, "Greedy*/opt=min", "GreedyPM*/opt=min", "Greedy/per/opt=min", "GreedyPM/per/opt=min",
		"Greedy*/per/opt=min", "GreedyPM*/per/opt=min", recommended,
	}
	figureOnePacked = []string{
		fractional.EASY, "MCB8*/opt=min/minvt=600", "MCB8/per/opt=min/minvt=600", "MCB8*/per/opt=min/minvt=600",
		"/per/opt=min/minvt=600", "/stretch-per/opt=max/minvt=600",
		"GreedyPM/per/opt=min/minvt=600", recommended,
	}
)

// figureOne are all algorithms of figure 1.
func figureOne() []string {
	all := slices.Clone(figureOneGreedy)
	for _, a := range figureOnePacked {
		all = papers.Including(all, a)
	}
	return all
}

// figures draws figures 1, 3 and 4.
func (r *Report) figures() {
	s := r.study
	add := func(file, title string, c *chart.Lines, t, overview *papers.Table, says ...string) {
		if c != nil {
			c.Title = title
		}
		sec := &papers.Section{Title: title, File: file, Table: t, Overview: overview, Says: says, Empty: c == nil ||
			len(c.Lines) == 0}
		if !sec.Empty {
			sec.Chart = c
		}
		r.Add(sec)
	}
	loads := s.loadTable(figureOne())
	add("figure-1-greedy", "Figure 1: degradation from bound by load, greedy algorithms",
		s.loadLines(figureOneGreedy, r.tablePeriods()), s.loadTable(figureOneGreedy), nil)
	add("figure-1-mcb8", "Figure 1: degradation from bound by load, the others beside the best",
		s.loadLines(figureOnePacked, r.tablePeriods()), s.loadTable(figureOnePacked), loads,
		"Figure 1 is drawn as two, with EASY and the best in both; the table has all.")
	for i, set := range sets {
		t := s.periodTable(set.id)
		add(fmt.Sprintf("figure-3%c", 'a'+i), fmt.Sprintf("Figure 3%c: underutilization by period, %s", 'a'+i,
			set.name),
			s.underuseLines(set.id), t, t)
	}
	t := s.periodsTable()
	add("figure-4", "Figure 4: degradation from bound by period", s.degradationLines(), t, t)
	r.beyond()
}

// loadLines is figure 1: both axes of the paper, degradation on the logarithmic one.
func (s *study) loadLines(algorithms []string, note string) *chart.Lines {
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

func (s *study) loadTable(algorithms []string) *papers.Table {
	t := &papers.Table{Words: 1, Head: []string{"algorithm"}}
	for load := 1; load < heavy; load++ {
		t.Head = append(t.Head, strconv.FormatFloat(float64(load)/10, 'f', 1, 64))
	}
	for _, a := range algorithms {
		row, any := []string{a}, false
		for load := 1; load < heavy; load++ {
			v, ok := s.stat(fractional.Scaled, load, a, tablePeriod, degradation)
			any = any || ok
			row = append(row, papers.Shown(v.avg, ok, papers.Tenth))
		}
		if any {
			t.Add(row...)
		}
	}
	return t
}

func (s *study) alongPeriods(set string, m measure) (l chart.Line) {
	for _, p := range s.periods(set) {
		v, _ := s.stat(set, whole, recommended, p, m)
		l.X, l.Y = append(l.X, p.Seconds()), append(l.Y, v.avg)
	}
	return l
}

// underuseLines is figure 3: EASY, which has no period, is a line across.
func (s *study) underuseLines(set string) *chart.Lines {
	l := s.alongPeriods(set, underused)
	if len(l.X) == 0 {
		return nil
	}
	l.Name = recommended
	c := &chart.Lines{
		Linear: true, XTitle: "period (s)", YTitle: "normalized underutilization, mean", Lines: []chart.Line{l},
		Note: fmt.Sprintf("%d instances, penalty %s", s.instances[setPart{set, whole}], inSeconds(s.penalty)),
	}
	if v, ok := s.at(set, fractional.EASY, underused); ok {
		c.Rule = &chart.Rule{At: v.avg, Label: fractional.EASY}
	}
	return c
}

func (s *study) periodTable(set string) *papers.Table {
	t := &papers.Table{Head: []string{"period", recommended, "EASY"}}
	easy, ok := s.at(set, fractional.EASY, underused)
	for _, p := range s.periods(set) {
		v, _ := s.stat(set, whole, recommended, p, underused)
		t.Add(inSeconds(p), papers.Ratio(v.avg), papers.Shown(easy.avg, ok, papers.Ratio))
	}
	return t
}

// degradationLines is figure 4.
func (s *study) degradationLines() *chart.Lines {
	c := &chart.Lines{
		Linear: true, XTitle: "period (s)", YTitle: "degradation from bound, mean",
		Note: fmt.Sprintf("%s, penalty %s", recommended, inSeconds(s.penalty)),
	}
	for _, set := range sets {
		l := s.alongPeriods(set.id, degradation)
		l.Name = set.name
		if len(l.X) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	return c
}

// periodsTable has what a longer period costs and saves.
func (s *study) periodsTable() *papers.Table {
	t := &papers.Table{Head: []string{"period"}}
	var periods []batch.Duration
	for _, set := range sets {
		t.Head = append(t.Head, set.name)
		for _, p := range s.periods(set.id) {
			periods = papers.Including(periods, p)
		}
	}
	t.Head = append(t.Head, "GB/s, scaled, load 0.7 and more")
	slices.Sort(periods)
	for _, p := range periods {
		row := []string{inSeconds(p)}
		for _, set := range sets {
			v, ok := s.stat(set.id, whole, recommended, p, degradation)
			row = append(row, papers.Shown(v.avg, ok, papers.Tenth))
		}
		v, ok := s.stat(fractional.Scaled, heavy, recommended, p, movedGB)
		t.Add(append(row, papers.Shown(v.avg, ok, papers.Hundredth))...)
	}
	return t
}
