package overbooking

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
)

// traceTable has all that is measured, of the way and the slack of the figures.
func (r *Report) traceTable() *papers.Table {
	t := &papers.Table{Words: 1, Head: []string{
		"log", "maxPoF", "jobs accepted", "worth accepted", "utilization", "of it completed", "overbooked", "lost", "late", "broken worth", "profit",
	}}
	for _, trace := range r.traces {
		for _, p := range r.chances {
			c := cell{trace, r.middle(), r.way(), p}
			o := r.cells[c]
			g, ok := r.gain(c, once)
			if o == nil || !ok {
				continue
			}
			t.Add(trace, p, papers.Percent(o.accepted), papers.Percent(o.worth), papers.Percent(o.all), papers.Percent(o.useful), papers.Percent(o.overbooked),
				papers.Hundredths(o.lost), papers.Hundredths(o.late), papers.Hundredths(o.brokenWorth), papers.Signed(g))
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
					at, most := r.best(func(p string) (float64, bool) { return r.gain(cell{trace, slack, way, p}, penalty) })
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
	return r.gains(r.ways, func(i int, maxPoF string) (float64, bool) { return r.meanGain(r.middle(), r.ways[i], maxPoF, once) })
}

func (r *Report) slackTable() *papers.Table {
	var names []string
	for _, s := range r.slacks {
		names = append(names, slackName(s))
	}
	return r.gains(names, func(i int, maxPoF string) (float64, bool) { return r.meanGain(r.slacks[i], r.way(), maxPoF, once) })
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
