package chart

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// MaxLines is how many lines a chart may have.
const MaxLines = 8

// Lines shows how things grow: lines over two logarithmic axes, on which a power
// law is a straight line and its slope the exponent; or over linear ones.
type Lines struct {
	Title, Note    string
	XTitle, YTitle string
	Lines          []Line

	Linear         bool
	LinearX        bool  // the x axis alone is linear
	XScale, YScale Scale // of linear axes
	Rule           *Rule
}

// Line is a series of points, in the order in which they are joined.
type Line struct {
	Name string
	X, Y []float64 // as many of each; positive on logarithmic axes
}

func (l *Lines) page() (*page, error) {
	if n := len(l.Lines); n < 1 || n > MaxLines {
		return nil, fmt.Errorf("%d lines, accepted: 1 to %d", n, MaxLines)
	}
	var xs, ys []float64
	for _, s := range l.Lines {
		if len(s.X) == 0 || len(s.X) != len(s.Y) {
			return nil, fmt.Errorf("line %s: %d and %d coordinates, accepted: as many of x as of y, and some", s.Name,
				len(s.X),
				len(s.Y))
		}
		xs, ys = append(xs, s.X...), append(ys, s.Y...)
	}
	if l.Rule != nil {
		ys = append(ys, l.Rule.At)
	}
	x, errX := covering(xs, l.Linear || l.LinearX, l.XScale)
	y, errY := covering(ys, l.Linear, l.YScale)
	if err := errors.Join(errX, errY); err != nil {
		return nil, err
	}
	p := &page{
		title: l.Title, note: l.Note, xTitle: l.XTitle, yTitle: l.YTitle, x: x, y: y, rule: l.Rule, styles: newStyles(),
		data: l.draw,
	}
	for i, s := range l.Lines {
		p.legend = append(p.legend, entry{name: s.Name, sign: func(c draw.Canvas, at vg.Point) {
			c.StrokeLine2(l.stroke(i), at.X-8, at.Y, at.X+8, at.Y)
			l.glyph(c, i, at)
		}})
	}
	return p, nil
}

// covering returns an axis for all values.
func covering(values []float64, straight bool, scale Scale) (axis, error) {
	low, high := values[0], values[0]
	for _, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return axis{}, fmt.Errorf("%v on an axis, accepted: numbers", v)
		case v <= 0 && !straight:
			return axis{}, fmt.Errorf("%v on a logarithmic axis, accepted: above 0", v)
		}
		low, high = min(low, v), max(high, v)
	}
	if straight {
		return linear(low, high, scale), nil
	}
	return logarithmic(low, high), nil
}

func (l *Lines) draw(area plot) {
	for i, s := range l.Lines {
		points := make([]vg.Point, len(s.X))
		for k := range s.X {
			points[k] = area.at(s.X[k], s.Y[k])
		}
		area.StrokeLines(l.stroke(i), points)
		for _, p := range points {
			l.glyph(area.Canvas, i, p)
		}
	}
}

// stroke returns the line of series i. The lightest color of the palette is left
// out: a thin line of it is not seen on white.
func (l *Lines) stroke(i int) draw.LineStyle {
	dashes := [][]vg.Length{nil, {5, 2}, {2, 1.5}, {7, 2, 1.5, 2}}
	return line(Steps[1:].of(i, len(l.Lines)), 1.4, dashes[i%len(dashes)]...)
}

// glyph marks a point of series i.
func (l *Lines) glyph(c draw.Canvas, i int, at vg.Point) {
	corners := marks[i%len(marks)]
	points := make([]vg.Point, len(corners))
	for k, corner := range corners {
		points[k] = at.Add(corner)
	}
	c.FillPolygon(Steps[1:].of(i, len(l.Lines)), points)
}

// marks are the corners of filled shapes: square, triangle, diamond, triangle on
// its point.
var marks = [][]vg.Point{
	{{X: -2.3, Y: -2.3}, {X: 2.3, Y: -2.3}, {X: 2.3, Y: 2.3}, {X: -2.3, Y: 2.3}},
	{{X: -3, Y: -2}, {X: 3, Y: -2}, {X: 0, Y: 3.2}},
	{{X: -3.4, Y: 0}, {X: 0, Y: -3.4}, {X: 3.4, Y: 0}, {X: 0, Y: 3.4}},
	{{X: -3, Y: 2}, {X: 0, Y: -3.2}, {X: 3, Y: 2}},
}
