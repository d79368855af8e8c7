package chart

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// page is a chart with everything but its data: heading, legend, axes.
type page struct {
	title, note string
	legend      []entry
	xTitle      string
	yTitle      string
	x, y        axis
	bands       int   // groups along x that are set off against each other
	rule        *Rule // across the data
	styles      styles
	data        func(plot)
}

// entry is a series in the legend: its sign is drawn around a point.
type entry struct {
	name string
	sign func(c draw.Canvas, center vg.Point)
}

// Rule is a line across a chart at a value that means something.
type Rule struct {
	At    float64
	Label string // stands right of the data
}

// plot is the rectangle in which data are drawn.
type plot struct {
	draw.Canvas
	x, y *axis
}

func (p *plot) at(x, y float64) vg.Point {
	return vg.Point{X: p.X(p.x.place(x)), Y: p.Y(p.y.place(y))}
}

const (
	signWidth = vg.Length(16)
	lineSkip  = vg.Length(13)
	// Centred is the middle of a line of text; digits and capitals, which reach
	// below nothing, look centred a little higher.
	lift = vg.Length(1.1)
)

func (p *page) draw(c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	top := c.Max.Y
	c.FillText(at(p.styles.title, 0, -1), vg.Point{X: c.Min.X, Y: top}, p.title)
	top -= lineSkip + 4
	for _, l := range p.wrap(p.note, c.Max.X-c.Min.X) {
		c.FillText(at(p.styles.note, 0, -1), vg.Point{X: c.Min.X, Y: top}, l)
		top -= lineSkip
	}
	top = p.drawLegend(c, top-3)
	c.FillText(at(p.styles.note, 0, -1), vg.Point{X: c.Min.X, Y: top - 4}, p.yTitle)
	p.drawPlot(c, top-4-lineSkip-5)
}

// wrap breaks a note into lines of a width.
func (p *page) wrap(note string, width vg.Length) []string {
	var lines []string
	current := ""
	for _, word := range strings.Fields(note) {
		if longer := current + " " + word; current != "" && p.styles.note.Width(longer) <= width {
			current = longer
			continue
		}
		if current != "" {
			lines = append(lines, current)
		}
		current = word
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}

// drawLegend sets the series in as many lines as they need, and returns where the
// last one ends.
func (p *page) drawLegend(c draw.Canvas, top vg.Length) vg.Length {
	x := c.Min.X
	for _, e := range p.legend {
		width := signWidth + 5 + p.styles.label.Width(e.name)
		if x > c.Min.X && x+width > c.Max.X {
			x, top = c.Min.X, top-lineSkip
		}
		e.sign(c, vg.Point{X: x + signWidth/2, Y: top - 5})
		c.FillText(at(p.styles.label, 0, -0.5), vg.Point{X: x + signWidth + 5, Y: top - 5 + lift}, e.name)
		x += width + 16
	}
	if len(p.legend) > 0 {
		top -= lineSkip
	}
	return top
}

func (p *page) drawPlot(c draw.Canvas, top vg.Length) {
	left, right := vg.Length(0), vg.Length(0)
	for _, t := range p.y.ticks {
		left = max(left, p.styles.tick.Width(t.label))
	}
	if p.rule != nil {
		right = p.styles.note.Width(p.rule.Label) + 4
	} else if n := len(p.x.ticks); n > 0 && p.bands == 0 { // the last label stands out
		right = p.styles.tick.Width(p.x.ticks[n-1].label) / 2
	}
	area := plot{Canvas: c, x: &p.x, y: &p.y}
	area.Min.X += left + 6
	area.Max.X -= right
	area.Max.Y = top
	area.Min.Y += 2*lineSkip + 6
	p.drawBands(area)
	p.drawY(area)
	p.drawX(area, c)
	p.data(area)
}

// drawBands shades every other group.
func (p *page) drawBands(area plot) {
	for i := 1; i < p.bands; i += 2 {
		from, to := area.X(float64(i)/float64(p.bands)), area.X(float64(i+1)/float64(p.bands))
		area.FillPolygon(band, []vg.Point{
			{X: from, Y: area.Min.Y}, {X: to, Y: area.Min.Y}, {X: to, Y: area.Max.Y}, {X: from, Y: area.Max.Y},
		})
	}
}

func (p *page) drawY(area plot) {
	for _, t := range p.y.ticks {
		y := area.Y(p.y.place(t.at))
		if t.label == "" {
			area.StrokeLine2(line(faint, 0.5), area.Min.X, y, area.Min.X+2.5, y)
			continue
		}
		area.StrokeLine2(line(grid, 0.5), area.Min.X, y, area.Max.X, y)
		area.FillText(at(p.styles.tick, -1, -0.5), vg.Point{X: area.Min.X - 5, Y: y + lift}, t.label)
	}
	if p.rule != nil {
		y := area.Y(p.y.place(p.rule.At))
		area.StrokeLine2(line(ink, 0.9, 4, 2.5), area.Min.X, y, area.Max.X, y)
		area.FillText(at(p.styles.note, 0, -0.5), vg.Point{X: area.Max.X + 4, Y: y + lift}, p.rule.Label)
	}
}

func (p *page) drawX(area plot, c draw.Canvas) {
	area.StrokeLine2(line(ink, 0.8), area.Min.X, area.Min.Y, area.Max.X, area.Min.Y)
	for _, t := range p.x.ticks {
		x := area.X(p.x.place(t.at))
		switch {
		case p.bands > 0:
		case t.label == "":
			area.StrokeLine2(line(faint, 0.5), x, area.Min.Y, x, area.Min.Y+2.5)
		default:
			area.StrokeLine2(line(grid, 0.5), x, area.Min.Y, x, area.Max.Y)
		}
		if t.label != "" {
			area.FillText(at(p.styles.tick, -0.5, -1), vg.Point{X: x, Y: area.Min.Y - 4}, t.label)
		}
	}
	c.FillText(at(p.styles.note, -0.5, 0), vg.Point{X: (area.Min.X + area.Max.X) / 2, Y: c.Min.Y + 1}, p.xTitle)
}
