package mandelbrot

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"sync"
	"sync/atomic"
)

const (
	fullWidth = 3.5    // units across the image at zoom 1
	radius    = 1 << 8 // escape radius; 2 suffices, more gives smoother colors
)

// render computes the image of cfg, which must be valid, and the number of iterations. It
// returns ctx's error, wrapped, soon after ctx is cancelled: each thread first finishes
// its pixel, at most cfg.Iterations.
func render(ctx context.Context, cfg Config) (*image.RGBA, int64, error) {
	img := image.NewRGBA(image.Rect(0, 0, cfg.Width, cfg.Height))
	pixel := fullWidth / cfg.Zoom / float64(cfg.Width)

	var stopped atomic.Bool
	defer context.AfterFunc(ctx, func() { stopped.Store(true) })()
	var taken, iterations atomic.Int64
	work := func() {
		for {
			row := int(taken.Add(1)) - 1
			if row >= cfg.Height {
				return
			}
			y := cfg.CentreY - pixel*(float64(row)-float64(cfg.Height-1)/2)
			sum := 0
			for col := range cfg.Width {
				if stopped.Load() {
					return
				}
				x := cfg.CentreX + pixel*(float64(col)-float64(cfg.Width-1)/2)
				color, steps := point(x, y, cfg.Iterations)
				img.SetRGBA(col, row, color)
				sum += steps
			}
			iterations.Add(int64(sum))
		}
	}

	var others sync.WaitGroup
	for range min(cfg.Threads, cfg.Height) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if err := ctx.Err(); err != nil {
		return nil, 0, fmt.Errorf("render: %w", err)
	}
	return img, iterations.Load(), nil
}

// point iterates c = x + iy and returns its color and the number of iterations.
func point(x, y float64, limit int) (color.RGBA, int) {
	var re, im float64
	for i := range limit {
		// The conversions forbid fused multiply-add, so all kinds of processors
		// compute the same picture.
		re2, im2 := float64(re*re), float64(im*im)
		if norm := re2 + im2; norm > radius*radius {
			return shade(float64(i) + 1 - math.Log2(math.Log2(norm)/2)), i
		}
		im = float64(2*re*im) + y
		re = re2 - im2 + x
	}
	return inside, limit
}

// inside is the color of points that do not escape.
var inside = color.RGBA{0, 0, 0, 255}

// stops holds the colors of one turn of the palette, evenly spaced and cyclic.
var stops = [...][3]float64{
	{8, 14, 46},     // night
	{28, 74, 152},   // sea
	{92, 170, 220},  // sky
	{246, 244, 226}, // cream
	{250, 186, 72},  // amber
	{176, 72, 36},   // rust
	{62, 20, 52},    // plum
}

// paletteSize is the number of shades between the stops. Neighboring shades differ by
// about one unit of a color channel.
const paletteSize = 2048

var palette = blend()

// blend fills the palette by cosine interpolation, which has no visible edges at the
// stops.
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

// shade returns the color of a point that escaped after a fractional number of steps. The
// palette turns with the logarithm of the steps, so both the wide outer bands and the
// narrow bands near the set are visible.
func shade(steps float64) color.RGBA {
	turn := 0.35 + 0.30*math.Log2(1+max(steps, 0))
	_, part := math.Modf(turn)
	return palette[int(part*paletteSize)%paletteSize]
}
