package mandelbrot

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// Run renders the view of cfg to cfg.Output as a PNG and writes a report to stdout. It
// returns Validate's errors, file errors or ctx's error, wrapped. On error it writes no
// output file.
func Run(ctx context.Context, cfg Config, stdout io.Writer) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	began := time.Now()
	img, iterations, err := render(ctx, cfg)
	if err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()

	err = services.WriteOutput(cfg.Output, func(w io.Writer) error {
		return png.Encode(cancelWriter{ctx, w}, img)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout,
		"view        %v\nthreads     %d\niterations  %d\nseconds     %.4f (without encoding)\n",
		cfg, cfg.Threads, iterations, seconds)
	return err
}

// cancelWriter stops a writer, here the PNG encoder, after ctx is cancelled.
type cancelWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c cancelWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// Accepted ranges.
const (
	MaxSide       = 8192 // pixels
	MaxIterations = 1_000_000
	MaxThreads    = 1024
	MaxCentre     = 4.0 // the set lies within 2
	MinZoom       = 0.1
	MaxZoom       = 1e11 // beyond it neighboring pixels of a wide image have the same float64
)

// Config holds the arguments of the service.
type Config struct {
	Width, Height    int     // pixels, 1 to MaxSide
	CentreX, CentreY float64 // the middle of the image, -MaxCentre to MaxCentre
	Zoom             float64 // the image is 3.5/Zoom wide, MinZoom to MaxZoom
	Iterations       int     // most iterations of a pixel, 1 to MaxIterations
	Threads          int     // goroutines that render, 1 to MaxThreads
	Output           string  // PNG file to write
}

// DefaultConfig shows the whole set on one thread. It has no output file.
func DefaultConfig() Config {
	return Config{
		Width: 960, Height: 640,
		CentreX: -0.65, CentreY: 0, Zoom: 1,
		Iterations: 1000, Threads: 1,
	}
}

// Validate reports every argument out of range, each as a
// *services.ArgumentError.
func (c Config) Validate() error {
	return errors.Join(
		services.CheckRange("width", c.Width, 1, MaxSide),
		services.CheckRange("height", c.Height, 1, MaxSide),
		services.CheckRange("centre_x", c.CentreX, -MaxCentre, MaxCentre),
		services.CheckRange("centre_y", c.CentreY, -MaxCentre, MaxCentre),
		services.CheckRange("zoom", c.Zoom, MinZoom, MaxZoom),
		services.CheckRange("iterations", c.Iterations, 1, MaxIterations),
		services.CheckRange("threads", c.Threads, 1, MaxThreads),
		services.CheckPath("output", c.Output),
	)
}

// String describes the view in a line.
func (c Config) String() string {
	return fmt.Sprintf("%d x %d around (%g, %g), zoom %g, at most %d iterations",
		c.Width, c.Height, c.CentreX, c.CentreY, c.Zoom, c.Iterations)
}
