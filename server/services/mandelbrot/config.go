package mandelbrot

import (
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// Accepted ranges.
const (
	MaxSide       = 8192 // pixels
	MaxIterations = 1_000_000
	MaxThreads    = 1024
	MaxCentre     = 4.0 // nothing of the set lies beyond 2
	MinZoom       = 0.1
	MaxZoom       = 1e11 // beyond it float64 cannot tell neighbouring pixels of a wide image apart
)

// Config is what the service is called with.
type Config struct {
	Width, Height    int     // pixels, 1 to MaxSide
	CentreX, CentreY float64 // the middle of the image, -MaxCentre to MaxCentre
	Zoom             float64 // the image is 3.5/Zoom wide, MinZoom to MaxZoom
	Iterations       int     // at most so many for each pixel, 1 to MaxIterations
	Threads          int     // goroutines that render, 1 to MaxThreads
	Output           string  // PNG file to write
}

// DefaultConfig shows the whole set on one thread. It lacks the output file.
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
