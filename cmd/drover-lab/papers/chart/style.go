package chart

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const family = "Liberation Sans"

var (
	ink   = color.RGBA{0x22, 0x22, 0x22, 0xff}
	faint = color.RGBA{0x5a, 0x5a, 0x5a, 0xff}
	grid  = color.RGBA{0xd4, 0xd4, 0xd4, 0xff}
	band  = color.RGBA{0xf4, 0xf4, 0xf4, 0xff}
	white = color.RGBA{0xff, 0xff, 0xff, 0xff}
)

// Palette is a set of colours for the series of a chart, light to dark.
type Palette []color.RGBA

var (
	// Pairs is for two pairs of series: the light and the dark one of two hues.
	Pairs = Palette{{0xd3, 0xe5, 0xf3, 0xff}, {0x7d, 0xb4, 0xdb, 0xff}, {0xd8, 0x6f, 0x1c, 0xff}, {0x74, 0x2a, 0x05, 0xff}}
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

// of returns the colour of series i of n: few series are spread over the palette.
func (p Palette) of(i, n int) color.RGBA {
	if n <= 1 {
		return p[len(p)/2]
	}
	return p[i*(len(p)-1)/(n-1)]
}

// dark says whether white is better seen on a colour than black.
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
