package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
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

const family = "Liberation Sans"

var (
	ink   = color.RGBA{0x22, 0x22, 0x22, 0xff}
	faint = color.RGBA{0x5a, 0x5a, 0x5a, 0xff}
	grid  = color.RGBA{0xd4, 0xd4, 0xd4, 0xff}
	band  = color.RGBA{0xf4, 0xf4, 0xf4, 0xff}
	white = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

// Palette is a set of colors for the series of a chart, light to dark.
type Palette []color.RGBA

var (
	// Pairs is for two pairs of series: the light and the dark one of two hues.
	Pairs = Palette{
		{0xd3, 0xe5, 0xf3, 0xff}, {0x7d, 0xb4, 0xdb, 0xff}, {0xd8, 0x6f, 0x1c, 0xff}, {0x74, 0x2a, 0x05, 0xff},
	}
	// Steps is for up to six series in an order; each step is as great to the eye
	// (viridis).
	Steps = Palette{
		{0xfd, 0xe7, 0x25, 0xff},
		{0x7a, 0xd1, 0x51, 0xff},
		{0x22, 0xa8, 0x84, 0xff},
		{0x2a, 0x78, 0x8e, 0xff},
		{0x41, 0x44, 0x87, 0xff},
		{0x44, 0x01, 0x54, 0xff},
	}
)

// of returns the color of series i of n: few series are spread over the palette.
func (p Palette) of(i, n int) color.RGBA {
	if n <= 1 {
		return p[len(p)/2]
	}
	return p[i*(len(p)-1)/(n-1)]
}

// dark says whether white is better seen on a color than black.
func dark(c color.RGBA) bool {
	return 299*int(c.R)+587*int(c.G)+114*int(c.B) < 120_000
}

// The text styles. Handlers hold fonts in a cache that is filled while drawing, so
// each page has its own.
type styles struct {
	title, note, label, tick text.Style
}

func newStyles() styles {
	handler := text.Plain{Fonts: font.NewCache(liberation.Collection())}
	style := func(size vg.Length, weight xfont.Weight, c color.Color) text.Style {
		return text.Style{
			Color: c, Handler: handler,
			Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size, Weight: weight},
		}
	}
	return styles{
		title: style(11, xfont.WeightBold, ink),
		note:  style(8.5, xfont.WeightNormal, faint),
		label: style(8.5, xfont.WeightNormal, ink),
		tick:  style(8.5, xfont.WeightNormal, ink),
	}
}

// at returns the style with text aligned so: 0 begins at the point, -0.5 is
// centred, -1 ends there; for y, 0 stands on it, -0.5 is centred, -1 hangs below.
func at(s text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
}

// line returns a line of a width in points.
func line(c color.Color, width vg.Length, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: dashes}
}

// The page, in points: 17 cm wide, as the text of an A4 page.
const (
	pageWidth  vg.Length = 482
	pageHeight vg.Length = 290
	margin     vg.Length = 8
	pngDots              = 192 // per inch
)

// Chart is something that can be drawn.
type Chart interface {
	page() (*page, error)
}

// SVG returns the chart as a scalable picture.
func SVG(c Chart) ([]byte, error) {
	p, err := c.page()
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	canvas := vgsvg.New(pageWidth, pageHeight)
	p.draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	named := "font-family:" + family + ";"
	return bytes.ReplaceAll(out.Bytes(), []byte(named),
		[]byte("font-family:'"+family+"',Arial,Helvetica,sans-serif;")), nil
}

// PNG returns the chart as pixels.
func PNG(c Chart) ([]byte, error) {
	p, err := c.page()
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	canvas := vgimg.NewWith(vgimg.UseWH(pageWidth, pageHeight), vgimg.UseDPI(pngDots))
	p.draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&out); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return out.Bytes(), nil
}
