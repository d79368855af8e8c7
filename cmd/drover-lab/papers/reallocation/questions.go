package reallocation

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// Question is something that the paper left open: ways to reallocate are compared
// with each other on the same jobs and seeds.
type Question struct {
	ID       string
	Asks     string
	only     string // the scenario that it is about, if not all
	variants []variant
	groups   []group
	palette  chart.Palette
}

// variant is a way to reallocate, whatever the algorithm is.
type variant struct {
	name        string
	homogeneous bool
	tuning      string // empty: exhaustive, as a grid tunes without more ado
	scenario    string // in place of the one that it is about
	way         Way    // without its algorithm
	against     int    // the variant that it is compared with; itself: none
}

// group is where variants are compared.
type group struct {
	dedicated bool
	algorithm string
}

func (g group) String() string { return platform(g.dedicated) + ", " + g.algorithm }

// short is what a chart has room for.
func (g group) short() string {
	if g.algorithm == cancellation {
		return platform(g.dedicated) + ", all-canc."
	}
	return platform(g.dedicated) + ", regular"
}

var (
	everyGroup       = []group{{true, regular}, {true, cancellation}, {false, regular}, {false, cancellation}}
	cancellationOnly = []group{{true, cancellation}, {false, cancellation}}
)

// guarded is the patience of the question about the guard.
const guarded = "3"

// plain returns a way under the paper's settings.
func plain(heuristic, window string) Way {
	return Way{
		Heuristic: heuristic, Window: window, Period: paperPeriod, Threshold: paperThreshold, Patience: unguarded,
	}
}

func with(w Way, change func(*Way)) Way {
	change(&w)
	return w
}

func period(seconds string) Way {
	return with(plain(mct, paperWindow), func(w *Way) { w.Period = seconds })
}

// key returns the experiment of a variant.
func (v *variant) key(g group, scenario string, seed uint64) Key {
	k := Key{
		Scenario: scenario, Homogeneous: v.homogeneous, Dedicated: g.dedicated, Tuning: v.tuning, Seed: seed,
		Way: v.way,
	}
	k.Way.Algorithm = g.algorithm
	k.Way = k.Way.meaning()
	if k.Tuning == "" {
		k.Tuning = exhaustive
	}
	if v.scenario != "" {
		k.Scenario = v.scenario
	}
	return k
}

func patient(w Way) Way { return with(w, func(w *Way) { w.Patience = guarded }) }

// Questions returns all questions.
func Questions() []Question {
	const whole = "all"
	return []Question{
		{
			ID: "window", Asks: "Does MinMin over the whole queue beat MCT?", groups: everyGroup, palette: chart.Steps,
			variants: []variant{
				{name: "MCT", way: plain(mct, paperWindow)},
				{name: "MinMin, 20 oldest", way: plain(minmin, paperWindow)},
				{name: "MinMin, whole queue", way: plain(minmin, whole)},
			},
		},
		{
			ID: "heuristics", Asks: "Do other heuristics beat MCT, over the whole " +
				"queue?", groups: everyGroup, palette: chart.Steps,
			variants: []variant{
				{name: "MCT", way: plain(mct, paperWindow)},
				{name: "MinMin", way: plain(minmin, whole)},
				{name: "MaxMin", way: plain("maxmin", whole)},
				{name: "Sufferage", way: plain("sufferage", whole)},
				{name: "MaxGain", way: plain("maxgain", whole)},
				{name: "MaxRelGain", way: plain("maxrelgain", whole)},
			},
		},
		{
			ID: "guard", Asks: "Does the guard against starvation cost " +
				"anything?", groups: cancellationOnly, palette: chart.Pairs,
			variants: []variant{
				{name: "MCT, none", way: plain(mct, paperWindow)},
				{name: "MCT, patience 3", way: patient(plain(mct, paperWindow))},
				{name: "MinMin (all), none", way: plain(minmin, whole), against: 2},
				{name: "MinMin (all), patience 3", way: patient(plain(minmin, whole)), against: 2},
			},
		},
		{
			ID: "period", Asks: "Which period is best, under MCT?", groups: everyGroup, palette: chart.Steps,
			variants: []variant{
				{name: "15 min", way: period("900"), against: 2},
				{name: "30 min", way: period("1800"), against: 2},
				{name: "1 h", way: period(paperPeriod), against: 2},
				{name: "2 h", way: period("7200"), against: 2},
				{name: "6 h", way: period("21600"), against: 2},
			},
		},
		{
			ID: "homogeneous", Asks: "Is more gained where all sites have one speed?", groups: everyGroup,
			palette: chart.Pairs,
			variants: []variant{
				{name: "MCT, speeds differ", tuning: binary, way: plain(mct, paperWindow)},
				{name: "MCT, one speed", tuning: binary, way: plain(mct, paperWindow), homogeneous: true},
				{name: "MinMin, speeds differ", tuning: binary, way: plain(minmin, paperWindow), against: 2},
				{
					name: "MinMin, one speed", tuning: binary, way: plain(minmin, paperWindow), homogeneous: true,
					against: 2,
				},
			},
		},
		{
			ID: "tuning", Asks: "Is more gained where sites tune exhaustively?", groups: everyGroup,
			palette: chart.Pairs,
			variants: []variant{
				{name: "MCT, binary", tuning: binary, way: plain(mct, paperWindow)},
				{name: "MCT, exhaustive", way: plain(mct, paperWindow)},
				{name: "MinMin, binary", tuning: binary, way: plain(minmin, paperWindow), against: 2},
				{name: "MinMin, exhaustive", way: plain(minmin, paperWindow), against: 2},
			},
		},
		{
			ID: "size", Asks: "Is more gained on machines of the paper's " +
				"size?", only: "pwa", groups: everyGroup, palette: chart.Pairs,
			variants: []variant{
				{name: "MCT, pwa", tuning: binary, way: plain(mct, paperWindow)},
				{name: "MCT, pwa640", scenario: "pwa640", tuning: binary, way: plain(mct, paperWindow)},
				{name: "MinMin, pwa", tuning: binary, way: plain(minmin, paperWindow), against: 2},
				{
					name: "MinMin, pwa640", scenario: "pwa640", tuning: binary, way: plain(minmin, paperWindow),
					against: 2,
				},
			},
		},
	}
}

//go:embed campaigns/*.yaml
var campaigns embed.FS

// Campaigns returns the campaign files that, beside the paper's own experiments,
// make the rows of all questions: by name, in order.
func Campaigns() (names []string, texts [][]byte, err error) {
	entries, err := campaigns.ReadDir("campaigns")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		text, err := campaigns.ReadFile(path.Join("campaigns", e.Name()))
		if err != nil {
			return nil, nil, err
		}
		names, texts = append(names, strings.TrimSuffix(e.Name(), ".yaml")), append(texts, text)
	}
	return names, texts, nil
}

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
		Title: a.question.Asks, YTitle: responseAll.axis, XTitle: "platform and " +
			"algorithm", Palette: a.question.palette, Rule: responseAll.rule,
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
	{
		estimates.name + "_mean", "estimates per job", meanOf(estimates),
		func(v float64) string { return fmt.Sprintf("%.1f", v) },
	},
	{"put_back_later_most", "put back later, most", mostLater, func(v float64) string {
		return fmt.Sprintf("%.0f", v)
	}},
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
		out = append(out, fmt.Sprintf("%s against %s: **%s**. Mean response of all jobs %s and %s of that without "+
			"reallocation, less in %d of %d pairs of experiments.",
			v.name, a.question.variants[v.against].name, verdict, papers.Ratio(mine), papers.Ratio(other), n,
			len(pairs)))
	}
	return out
}
