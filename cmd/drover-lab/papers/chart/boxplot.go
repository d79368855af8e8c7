package chart

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Limits of a [BoxPlot]: what is distinct on a page.
const (
	MaxGroups = 16
	MaxSeries = 6
)

// BoxPlot compares samples: groups side by side, in each a box of every series.
type BoxPlot struct {
	Title, Note    string
	XTitle, YTitle string
	Groups         []string
	Series         []string
	Boxes          [][]Box // [group][series]
	Palette        Palette
	Scale          Scale
	Cover          []float64 // values that the axis reaches at least
	Rule           *Rule
}

func (b *BoxPlot) page() (*page, error) {
	if n := len(b.Groups); n < 1 || n > MaxGroups || len(b.Boxes) != n {
		return nil, fmt.Errorf("%d groups and %d rows of boxes, accepted: 1 to %d of both", n, len(b.Boxes), MaxGroups)
	}
	if n := len(b.Series); n < 1 || n > MaxSeries || len(b.Palette) == 0 {
		return nil, fmt.Errorf("%d series and %d colors, accepted: 1 to %d, and some", n, len(b.Palette), MaxSeries)
	}
	y, err := b.axis()
	if err != nil {
		return nil, err
	}
	p := &page{
		title: b.Title, note: b.Note, xTitle: b.XTitle, yTitle: b.YTitle, y: y, bands: len(b.Groups), rule: b.Rule,
		styles: newStyles(), data: b.draw,
		x: axis{min: 0, max: float64(len(b.Groups))},
	}
	for i, g := range b.Groups {
		p.x.ticks = append(p.x.ticks, tick{at: float64(i) + 0.5, label: g})
	}
	for i, s := range b.Series {
		fill := b.Palette.of(i, len(b.Series))
		p.legend = append(p.legend, entry{name: s, sign: func(c draw.Canvas, at vg.Point) {
			rectangle(c, fill, at.X-5, at.Y-4, at.X+5, at.Y+4)
		}})
	}
	p.legend = append(p.legend, entry{name: "mean", sign: func(c draw.Canvas, at vg.Point) { diamond(c, white, at) }})
	return p, nil
}

// axis reaches all values, what it is to cover, and the rule.
func (b *BoxPlot) axis() (axis, error) {
	values := append([]float64(nil), b.Cover...)
	if b.Rule != nil {
		values = append(values, b.Rule.At)
	}
	for i, row := range b.Boxes {
		if len(row) != len(b.Series) {
			return axis{}, fmt.Errorf("group %s has %d boxes for %d series", b.Groups[i], len(row), len(b.Series))
		}
		for _, box := range row {
			if box.N > 0 {
				values = append(values, box.Min, box.Max)
			}
		}
	}
	if len(values) == 0 {
		return axis{}, errors.New("no values")
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return linear(low, high, b.Scale), nil
}

// draw places the boxes: a fifth of each group stays free around them.
func (b *BoxPlot) draw(area plot) {
	slot := 0.8 / float64(len(b.Series))
	half := min(area.X(slot/float64(len(b.Groups)))-area.X(0), 30) * 0.36
	for g, row := range b.Boxes {
		for s, box := range row {
			if box.N > 0 {
				center := float64(g) + 0.1 + slot*(float64(s)+0.5)
				drawBox(area, box, center, half, b.Palette.of(s, len(row)))
			}
		}
	}
}

func drawBox(area plot, b Box, x float64, half vg.Length, fill color.RGBA) {
	low, q1, median, q3, high := area.at(x, b.Min), area.at(x, b.Q1), area.at(x, b.Median), area.at(x, b.Q3), area.at(x,
		b.Max)
	stroke := line(ink, 0.7)
	area.StrokeLine2(stroke, low.X, low.Y, q1.X, q1.Y)
	area.StrokeLine2(stroke, q3.X, q3.Y, high.X, high.Y)
	for _, end := range []vg.Point{low, high} {
		area.StrokeLine2(stroke, end.X-half*0.6, end.Y, end.X+half*0.6, end.Y)
	}
	rectangle(area.Canvas, fill, q1.X-half, q1.Y, q3.X+half, q3.Y)
	middle := line(ink, 1.4)
	if dark(fill) && min(median.Y-q1.Y, q3.Y-median.Y) > 1 { // not over the border
		middle.Color = white
	}
	area.StrokeLine2(middle, median.X-half, median.Y, median.X+half, median.Y)
	sign := white
	if q3.Y-q1.Y < 4 { // too flat to show its color
		sign = fill
	}
	diamond(area.Canvas, sign, area.at(x, b.Mean))
}

func rectangle(c draw.Canvas, fill color.RGBA, left, bottom, right, top vg.Length) {
	corners := []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
	c.FillPolygon(fill, corners)
	c.StrokeLines(line(ink, 0.7), append(corners, corners[0]))
}

// diamond is the sign of a mean: in a dark line, visible on any color.
func diamond(c draw.Canvas, fill color.RGBA, at vg.Point) {
	const r = 2.8
	corners := []vg.Point{
		{X: at.X - r, Y: at.Y}, {X: at.X, Y: at.Y - r}, {X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y + r},
	}
	c.FillPolygon(fill, corners)
	c.StrokeLines(line(ink, 0.7), append(corners, corners[0]))
}

// Box is what a box plot shows of a sample.
type Box struct {
	N                              int // values; 0: there is no box
	Min, Q1, Median, Q3, Max, Mean float64
}

// Summarize returns the box of a sample, which may be empty and stays as it is.
// Values that are no finite numbers are refused.
func Summarize(values []float64) (Box, error) {
	if len(values) == 0 {
		return Box{}, nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted) // a mean that does not depend on the order of the values
	sum := 0.
	for _, v := range sorted {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Box{}, fmt.Errorf("box: %v is no finite number", v)
		}
		sum += v
	}
	n := len(sorted)
	return Box{
		N: n, Min: sorted[0], Max: sorted[n-1], Mean: sum / float64(n),
		Q1: quantile(sorted, 0.25), Median: quantile(sorted, 0.5), Q3: quantile(sorted, 0.75),
	}, nil
}

// quantile returns the quantile p, 0 to 1, of sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}
