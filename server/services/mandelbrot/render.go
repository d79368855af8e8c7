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
	radius    = 1 << 8 // escape; larger than the 2 that would do, for smoother colours
)

// render computes the image that cfg, which must be valid, describes, and the
// number of iterations it took. It returns ctx's error, wrapped, soon after ctx
// is cancelled: a thread finishes the pixel in hand, at most cfg.Iterations.
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
				colour, steps := point(x, y, cfg.Iterations)
				img.SetRGBA(col, row, colour)
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

// point iterates c = x + iy and returns its colour and the iterations done.
func point(x, y float64, limit int) (color.RGBA, int) {
	var re, im float64
	for i := range limit {
		// The conversions forbid fused multiply-add: the same picture on any
		// kind of processor.
		re2, im2 := float64(re*re), float64(im*im)
		if norm := re2 + im2; norm > radius*radius {
			return shade(float64(i) + 1 - math.Log2(math.Log2(norm)/2)), i
		}
		im = float64(2*re*im) + y
		re = re2 - im2 + x
	}
	return inside, limit
}
