package overbooking

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/chart"
)

// penalties are those that are compared, in parts of what an agreement is worth.
var penalties = []float64{0.5, 1, 2, 5, 10}

// once is the penalty of figures where nothing else is said.
const once = 1

// figures makes all sections.
func (r *Report) figures() {
	add := func(file, title string, c *chart.Lines, t *papers.Table, says ...string) {
		c.Title = title
		r.Add(&papers.Section{Title: title, File: file, Chart: c, Table: t, Overview: t, Says: says})
	}
	byTrace := func(y string, rule *chart.Rule, value func(o *balance) float64) *chart.Lines {
		note := fmt.Sprintf("way %s, windows longer than the estimate by %s", r.way(), slackName(r.middle()))
		return r.lines(r.note(note), y, r.traces, rule, func(trace, maxPoF string) (float64, bool) {
			o := r.cells[cell{trace, r.middle(), r.way(), maxPoF}]
			if o == nil {
				return 0, false
			}
			return value(o), true
		})
	}
	add("accepted", "How much more is accepted",
		byTrace("worth accepted, in parts of what was offered", nil,
			func(o *balance) float64 { return o.worth }), r.traceTable(), r.saysAccepted()...)
	add("utilization", "How much of the machine does what was asked for",
		byTrace("utilization by jobs that are completed", nil,
			func(o *balance) float64 { return o.useful }), nil, r.saysUtilization()...)
	add("broken", "What the provider breaks",
		byTrace("agreements broken, in parts of the accepted", nil,
			func(o *balance) float64 { return o.broken }), nil, r.saysBroken()...)
	add("failed", "How often an overbooked job fails, beside what was allowed", r.failed(), r.failedTable(),
		r.saysFailed()...)
	add("profit", "What is earned, if a broken agreement costs what it was worth", r.profitByTrace(), r.bestTable(),
		r.saysProfit()...)
	add("penalty", "What is earned, by what a broken agreement costs", r.profitByPenalty(), r.penaltyTable(),
		r.saysPenalty()...)
	add("way", "Which way to overbook", r.profitByWay(), r.wayTable(), r.saysWays()...)
	if len(r.slacks) > 1 {
		add("slack", "How tight windows are", r.profitBySlack(), r.slackTable(), r.saysSlack()...)
	}
}

// lines is a chart over maxPoF with a line for each name.
func (r *Report) lines(
	note, y string, names []string, rule *chart.Rule, value func(name, maxPoF string) (float64, bool),
) *chart.Lines {
	c := &chart.Lines{
		Note: note, XTitle: "maxPoF", YTitle: y, Linear: true, XScale: chart.Percent, YScale: chart.Percent, Rule: rule,
	}
	for _, name := range names {
		l := chart.Line{Name: name}
		for _, p := range r.chances {
			if v, ok := value(name, p); ok {
				l.X, l.Y = append(l.X, chanceOf(p)), append(l.Y, v)
			}
		}
		if len(l.X) > 0 {
			c.Lines = append(c.Lines, l)
		}
	}
	return c
}

var nothing = &chart.Rule{At: 0, Label: "CBF"}

const gained = "profit, compared with no overbooking"

func (r *Report) profitByTrace() *chart.Lines {
	note := fmt.Sprintf("way %s, windows longer than the estimate by %s", r.way(), slackName(r.middle()))
	return r.lines(r.note(note), gained, r.traces, nothing, func(trace, maxPoF string) (float64, bool) {
		return r.gain(cell{trace, r.middle(), r.way(), maxPoF}, once)
	})
}

func (r *Report) profitByPenalty() *chart.Lines {
	var names []string
	of := map[string]float64{}
	for _, p := range penalties[:len(penalties)-1] { // the highest would hide the others
		name := fmt.Sprintf("%g times its worth", p)
		names, of[name] = append(names, name), p
	}
	note := fmt.Sprintf("mean of the logs; way %s, windows longer than the estimate by %s", r.way(),
		slackName(r.middle()))
	return r.lines(r.note(note), gained, names, nothing, func(name, maxPoF string) (float64, bool) {
		return r.meanGain(r.middle(), r.way(), maxPoF, of[name])
	})
}

func (r *Report) profitByWay() *chart.Lines {
	note := fmt.Sprintf("mean of the logs; windows longer than the estimate by %s; a broken agreement costs its worth",
		slackName(r.middle()))
	return r.lines(r.note(note), gained, r.ways, nothing, func(way, maxPoF string) (float64, bool) {
		return r.meanGain(r.middle(), way, maxPoF, once)
	})
}

func (r *Report) profitBySlack() *chart.Lines {
	var names []string
	of := map[string]int{}
	for _, s := range r.slacks {
		names, of[slackName(s)] = append(names, slackName(s)), s
	}
	note := fmt.Sprintf("mean of the logs; way %s; a broken agreement costs its worth", r.way())
	return r.lines(r.note(note), gained, names, nothing, func(name, maxPoF string) (float64, bool) {
		return r.meanGain(of[name], r.way(), maxPoF, once)
	})
}

// failed compares the failures of overbooked jobs with what was allowed.
func (r *Report) failed() *chart.Lines {
	note := fmt.Sprintf("mean of the logs; windows longer than the estimate by %s", slackName(r.middle()))
	c := r.lines(r.note(note), "broken, in parts of the overbooked", r.ways, nil,
		func(way, maxPoF string) (float64, bool) {
			return r.meanFailed(way, maxPoF)
		})
	allowed := chart.Line{Name: "allowed"}
	for _, p := range r.chances {
		allowed.X, allowed.Y = append(allowed.X, chanceOf(p)), append(allowed.Y, chanceOf(p))
	}
	c.Lines = append(c.Lines, allowed)
	return c
}

func (r *Report) meanFailed(way, maxPoF string) (sum float64, ok bool) {
	for _, t := range r.traces {
		o := r.cells[cell{t, r.middle(), way, maxPoF}]
		if o == nil {
			return 0, false
		}
		sum += o.failed / float64(len(r.traces))
	}
	return sum, true
}

// traceTable has all that is measured, of the way and the slack of the figures.
func (r *Report) traceTable() *papers.Table {
	t := &papers.Table{Words: 1, Head: []string{
		"log", "maxPoF", "jobs accepted", "worth accepted", "utilization", "of it " +
			"completed", "overbooked", "lost", "late", "broken worth", "profit",
	}}
	for _, trace := range r.traces {
		for _, p := range r.chances {
			c := cell{trace, r.middle(), r.way(), p}
			o := r.cells[c]
			g, ok := r.gain(c, once)
			if o == nil || !ok {
				continue
			}
			t.Add(trace, p, papers.Percent(o.accepted), papers.Percent(o.worth), papers.Percent(o.all),
				papers.Percent(o.useful), papers.Percent(o.overbooked),
				papers.Hundredths(o.lost), papers.Hundredths(o.late), papers.Hundredths(o.brokenWorth),
				papers.Signed(g))
		}
	}
	return t
}

// best returns the maxPoF with which most is earned, and the gain; the least of
// several.
func (r *Report) best(gain func(maxPoF string) (float64, bool)) (at string, most float64) {
	at = r.chances[0]
	for _, p := range r.chances {
		if g, ok := gain(p); ok && g > most {
			at, most = p, g
		}
	}
	return at, most
}

// bestTable has the best maxPoF for each log, slack and way.
func (r *Report) bestTable() *papers.Table {
	t := &papers.Table{Words: 3, Head: []string{"log", "slack", "way"}}
	for _, p := range penalties {
		t.Head = append(t.Head, fmt.Sprintf("penalty %g: best maxPoF", p), "profit")
	}
	for _, trace := range r.traces {
		for _, slack := range r.slacks {
			for _, way := range r.ways {
				row := []string{trace, slackName(slack), way}
				for _, penalty := range penalties {
					at, most := r.best(func(p string) (float64, bool) {
						return r.gain(cell{trace, slack, way, p}, penalty)
					})
					row = append(row, at, papers.Signed(most))
				}
				t.Add(row...)
			}
		}
	}
	return t
}

// gains has a line for each maxPoF, and a column for each name.
func (r *Report) gains(names []string, gain func(i int, maxPoF string) (float64, bool)) *papers.Table {
	t := &papers.Table{Head: append([]string{"maxPoF"}, names...)}
	for _, p := range r.chances {
		row := []string{p}
		for i := range names {
			cell := ""
			if g, ok := gain(i, p); ok {
				cell = papers.Signed(g)
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	return t
}

func (r *Report) penaltyTable() *papers.Table {
	var names []string
	for _, p := range penalties {
		names = append(names, fmt.Sprintf("%g times", p))
	}
	return r.gains(names, func(i int, maxPoF string) (float64, bool) {
		return r.meanGain(r.middle(), r.way(), maxPoF, penalties[i])
	})
}

func (r *Report) wayTable() *papers.Table {
	return r.gains(r.ways, func(i int, maxPoF string) (float64,
		bool,
	) {
		return r.meanGain(r.middle(), r.ways[i], maxPoF, once)
	})
}

func (r *Report) slackTable() *papers.Table {
	var names []string
	for _, s := range r.slacks {
		names = append(names, slackName(s))
	}
	return r.gains(names, func(i int, maxPoF string) (float64, bool) {
		return r.meanGain(r.slacks[i], r.way(), maxPoF,
			once)
	})
}

func (r *Report) failedTable() *papers.Table {
	t := &papers.Table{Head: append([]string{"maxPoF"}, r.ways...)}
	for _, p := range r.chances {
		row := []string{p}
		for _, way := range r.ways {
			cell := ""
			if f, ok := r.meanFailed(way, p); ok {
				cell = papers.Percent(f)
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	return t
}
