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
		byTrace("worth accepted, in parts of what was offered", nil, func(o *balance) float64 { return o.worth }), r.traceTable(), r.saysAccepted()...)
	add("utilization", "How much of the machine does what was asked for",
		byTrace("utilization by jobs that are completed", nil, func(o *balance) float64 { return o.useful }), nil, r.saysUtilization()...)
	add("broken", "What the provider breaks",
		byTrace("agreements broken, in parts of the accepted", nil, func(o *balance) float64 { return o.broken }), nil, r.saysBroken()...)
	add("failed", "How often an overbooked job fails, beside what was allowed", r.failed(), r.failedTable(), r.saysFailed()...)
	add("profit", "What is earned, if a broken agreement costs what it was worth", r.profitByTrace(), r.bestTable(), r.saysProfit()...)
	add("penalty", "What is earned, by what a broken agreement costs", r.profitByPenalty(), r.penaltyTable(), r.saysPenalty()...)
	add("way", "Which way to overbook", r.profitByWay(), r.wayTable(), r.saysWays()...)
	if len(r.slacks) > 1 {
		add("slack", "How tight windows are", r.profitBySlack(), r.slackTable(), r.saysSlack()...)
	}
}

// lines is a chart over maxPoF with a line for each name.
func (r *Report) lines(note, y string, names []string, rule *chart.Rule, value func(name, maxPoF string) (float64, bool)) *chart.Lines {
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
	note := fmt.Sprintf("mean of the logs; way %s, windows longer than the estimate by %s", r.way(), slackName(r.middle()))
	return r.lines(r.note(note), gained, names, nothing, func(name, maxPoF string) (float64, bool) {
		return r.meanGain(r.middle(), r.way(), maxPoF, of[name])
	})
}

func (r *Report) profitByWay() *chart.Lines {
	note := fmt.Sprintf("mean of the logs; windows longer than the estimate by %s; a broken agreement costs its worth", slackName(r.middle()))
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
	c := r.lines(r.note(note), "broken, in parts of the overbooked", r.ways, nil, func(way, maxPoF string) (float64, bool) {
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
