package reallocation

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// answer is what the rows say to a question.
type answer struct {
	question *Question
	cells    [][][]*Row // [group][variant]: experiments that all variants of the group have
	n        int        // experiments in all
}

func (s *study) answer(q *Question) *answer {
	a := &answer{question: q}
	for _, g := range q.groups {
		cells := make([][]*Row, len(q.variants))
		for _, scenario := range s.plan.Scenarios {
			if q.only != "" && q.only != scenario {
				continue
			}
			for _, seed := range s.plan.Seeds {
				for i, r := range s.rows.variants(q, g, scenario, seed) {
					cells[i] = append(cells[i], r)
					a.n++
				}
			}
		}
		a.cells = append(a.cells, cells)
	}
	return a
}

// variants returns a row for each variant, or nil if one lacks.
func (r *Rows) variants(q *Question, g group, scenario string, seed uint64) []*Row {
	rows := make([]*Row, len(q.variants))
	for i := range q.variants {
		rows[i] = r.index[q.variants[i].key(g, scenario, seed)]
		if rows[i] == nil {
			return nil
		}
	}
	return rows
}

func (a *answer) file() string { return "question-" + a.question.ID }

func (a *answer) chart(s *study) (*chart.BoxPlot, error) {
	p := &chart.BoxPlot{
		Title: a.question.Asks, YTitle: responseAll.axis, XTitle: "platform and algorithm", Palette: a.question.palette, Rule: responseAll.rule,
	}
	for _, v := range a.question.variants {
		p.Series = append(p.Series, v.name)
	}
	for g, cells := range a.cells {
		p.Groups = append(p.Groups, a.question.groups[g].short())
		var boxes []chart.Box
		for _, rows := range cells {
			b, err := chart.Summarize(values(rows, responseAll))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.file(), err)
			}
			boxes = append(boxes, b)
		}
		p.Boxes = append(p.Boxes, boxes)
	}
	p.Note = s.remarked(fmt.Sprintf("%s; in each group the same jobs and seeds", experiments(p.Boxes)))
	return p, nil
}

// weighed are the figures that ways are weighed by.
var weighed = []struct {
	name, head string
	of         func([]*Row) float64
	show       func(float64) string
}{
	{"response_mean", "response, all jobs (s)", response, func(v float64) string { return fmt.Sprintf("%.0f", v) }},
	{responseAll.name + "_mean", "in parts of that without", meanOf(responseAll), papers.Ratio},
	{slowdownAll.name + "_mean", "slowdown, all jobs", meanOf(slowdownAll), papers.Ratio},
	{relative.name + "_mean", "response, impacted", meanOf(relative), papers.Ratio},
	{early.name + "_mean", "early", meanOf(early), papers.Percent},
	{reallocations.name + "_mean", "moves per job", meanOf(reallocations), papers.Percent},
	{estimates.name + "_mean", "estimates per job", meanOf(estimates), func(v float64) string { return fmt.Sprintf("%.1f", v) }},
	{"put_back_later_most", "put back later, most", mostLater, func(v float64) string { return fmt.Sprintf("%.0f", v) }},
}

func meanOf(m *metric) func([]*Row) float64 {
	return func(rows []*Row) float64 { return papers.Mean(values(rows, m)) }
}

func response(rows []*Row) float64 {
	sum := 0.
	for _, r := range rows {
		sum += r.Response / float64(len(rows))
	}
	return sum
}

func mostLater(rows []*Row) float64 {
	later := 0
	for _, r := range rows {
		later = max(later, r.PutBackLater)
	}
	return float64(later)
}

// table has a line for each box: as programs read it, or as people do.
func (a *answer) table(forPeople bool) *papers.Table {
	t := &papers.Table{Head: []string{"platform", "algorithm", "variant", "experiments"}, Words: 3}
	for _, w := range weighed {
		if forPeople {
			t.Head = append(t.Head, w.head)
		} else {
			t.Head = append(t.Head, w.name)
		}
	}
	for g, cells := range a.cells {
		for i, rows := range cells {
			if len(rows) == 0 {
				continue
			}
			at := a.question.groups[g]
			line := []string{platform(at.dedicated), at.algorithm, a.question.variants[i].name, papers.Count(len(rows))}
			for _, w := range weighed {
				if forPeople {
					line = append(line, w.show(w.of(rows)))
				} else {
					line = append(line, papers.Exact(w.of(rows)))
				}
			}
			t.Add(line...)
		}
	}
	return t
}

// noticeable is the least difference of two mean responses that is called one, in parts
// of the response without reallocation.
const noticeable = 0.005

// says returns a sentence for each variant that is compared with another.
func (a *answer) says() []string {
	var out []string
	for i, v := range a.question.variants {
		if v.against == i {
			continue
		}
		var pairs []pair
		for _, cells := range a.cells {
			for k, r := range cells[i] {
				if x, y := responseAll.of(r), responseAll.of(cells[v.against][k]); x.defined && y.defined {
					pairs = append(pairs, pair{x.value, y.value})
				}
			}
		}
		if len(pairs) == 0 {
			continue
		}
		var mine, other float64
		for _, p := range pairs {
			mine, other = mine+p.a/float64(len(pairs)), other+p.b/float64(len(pairs))
		}
		n := papers.CountWhere(pairs, falls)
		verdict := "no clear difference"
		switch {
		case mine < other-noticeable && papers.Most(n, len(pairs)):
			verdict = "better"
		case mine > other+noticeable && !papers.Most(n, len(pairs)):
			verdict = "worse"
		}
		out = append(out, fmt.Sprintf("%s against %s: **%s**. Mean response of all jobs %s and %s of that without reallocation, less in %d of %d pairs of experiments.",
			v.name, a.question.variants[v.against].name, verdict, papers.Ratio(mine), papers.Ratio(other), n, len(pairs)))
	}
	return out
}
