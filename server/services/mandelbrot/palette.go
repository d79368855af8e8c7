package mandelbrot

import (
	"image/color"
	"math"
)

// inside is the colour of points that never leave.
var inside = color.RGBA{0, 0, 0, 255}

// stops are the colours of one turn of the palette, evenly spaced; the last
// runs into the first.
var stops = [...][3]float64{
	{8, 14, 46},     // night
	{28, 74, 152},   // sea
	{92, 170, 220},  // sky
	{246, 244, 226}, // cream
	{250, 186, 72},  // amber
	{176, 72, 36},   // rust
	{62, 20, 52},    // plum
}

// paletteSize is the number of shades the stops are blended into, so many
// that neighbours differ by about a unit of a colour channel.
const paletteSize = 2048

var palette = blend()

// blend fills the palette by cosine interpolation between the stops, which has
// no visible edges at them.
func blend() *[paletteSize]color.RGBA {
	shades := new([paletteSize]color.RGBA)
	for i := range shades {
		at := float64(i) * float64(len(stops)) / paletteSize
		from := int(at)
		to := (from + 1) % len(stops)
		part := (1 - math.Cos(math.Pi*(at-float64(from)))) / 2
		mix := func(channel int) uint8 {
			a, b := stops[from][channel], stops[to][channel]
			return uint8(math.Round(a + part*(b-a)))
		}
		shades[i] = color.RGBA{mix(0), mix(1), mix(2), 255}
	}
	return shades
}

// shade returns the colour for a point that left after so many steps, a
// fraction included. The palette turns with the logarithm of the steps, so
// that the wide outer bands and the crowded ones near the set both show.
func shade(steps float64) color.RGBA {
	turn := 0.35 + 0.30*math.Log2(1+max(steps, 0))
	_, part := math.Modf(turn)
	return palette[int(part*paletteSize)%paletteSize]
}
