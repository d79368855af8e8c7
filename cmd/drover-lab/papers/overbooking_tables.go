package papers

import (
	"fmt"
	"strings"
)

// signed writes a gain.
func signed(v float64) string {
	s := percent(v)
	if !strings.HasPrefix(s, "-") && s != "0.0%" {
		s = "+" + s
	}
	if s == "-0.0%" {
		return "0.0%"
	}
	return s
}

// traceTable has all that is measured, of the way and the slack of the figures.
func (r *OverbookingReport) traceTable() *table {
	t := &table{text: 1, head: []string{
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
			t.add(trace, p, percent(o.accepted), percent(o.worth), percent(o.all), percent(o.useful), percent(o.overbooked),
				hundredths(o.lost), hundredths(o.late), hundredths(o.brokenWorth), signed(g))
		}
	}
	return t
}

// best returns the maxPoF with which most is earned, and the gain; the least of
// several.
func (r *OverbookingReport) best(gain func(maxPoF string) (float64, bool)) (at string, most float64) {
	at = r.chances[0]
	for _, p := range r.chances {
		if g, ok := gain(p); ok && g > most {
			at, most = p, g
		}
	}
	return at, most
}

// bestTable has the best maxPoF for each log, slack and way.
func (r *OverbookingReport) bestTable() *table {
	t := &table{text: 3, head: []string{"log", "slack", "way"}}
	for _, p := range penalties {
		t.head = append(t.head, fmt.Sprintf("penalty %g: best maxPoF", p), "profit")
	}
	for _, trace := range r.traces {
		for _, slack := range r.slacks {
			for _, way := range r.ways {
				row := []string{trace, slackName(slack), way}
				for _, penalty := range penalties {
					at, most := r.best(func(p string) (float64, bool) { return r.gain(cell{trace, slack, way, p}, penalty) })
					row = append(row, at, signed(most))
				}
				t.add(row...)
			}
		}
	}
	return t
}

// gains has a line for each maxPoF, and a column for each name.
func (r *OverbookingReport) gains(names []string, gain func(i int, maxPoF string) (float64, bool)) *table {
	t := &table{head: append([]string{"maxPoF"}, names...)}
	for _, p := range r.chances {
		row := []string{p}
		for i := range names {
			cell := ""
			if g, ok := gain(i, p); ok {
				cell = signed(g)
			}
			row = append(row, cell)
		}
		t.add(row...)
	}
	return t
}

func (r *OverbookingReport) penaltyTable() *table {
	var names []string
	for _, p := range penalties {
		names = append(names, fmt.Sprintf("%g times", p))
	}
	return r.gains(names, func(i int, maxPoF string) (float64, bool) {
		return r.meanGain(r.middle(), r.way(), maxPoF, penalties[i])
	})
}

func (r *OverbookingReport) wayTable() *table {
	return r.gains(r.ways, func(i int, maxPoF string) (float64, bool) { return r.meanGain(r.middle(), r.ways[i], maxPoF, once) })
}

func (r *OverbookingReport) slackTable() *table {
	var names []string
	for _, s := range r.slacks {
		names = append(names, slackName(s))
	}
	return r.gains(names, func(i int, maxPoF string) (float64, bool) { return r.meanGain(r.slacks[i], r.way(), maxPoF, once) })
}

func (r *OverbookingReport) failedTable() *table {
	t := &table{head: append([]string{"maxPoF"}, r.ways...)}
	for _, p := range r.chances {
		row := []string{p}
		for _, way := range r.ways {
			cell := ""
			if f, ok := r.meanFailed(way, p); ok {
				cell = percent(f)
			}
			row = append(row, cell)
		}
		t.add(row...)
	}
	return t
}
