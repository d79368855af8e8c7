package gemm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// Run multiplies the matrices of cfg, replaces the file cfg.C by the result, and writes a
// report to stdout. It returns Validate's errors, *services.ArgumentError for files of the
// wrong size, or ctx's error, all wrapped. On error it does not change the file.
//
// After ctx is cancelled, each thread finishes its panel, a few milliseconds, and stops.
func Run(ctx context.Context, cfg Config, stdout io.Writer) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	a, err := read(ctx, "a", cfg.A, cfg.Rows, cfg.Inner)
	if err != nil {
		return err
	}
	b, err := read(ctx, "b", cfg.B, cfg.Inner, cfg.Cols)
	if err != nil {
		return err
	}
	c, err := read(ctx, "c", cfg.C, cfg.Rows, cfg.Cols)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := multiply(ctx, cfg.Alpha, a, b, cfg.Beta, c, cfg.Threads); err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	if err := write(cfg.C, c); err != nil {
		return err
	}
	rate := 2 * float64(cfg.Rows) * float64(cfg.Inner) * float64(cfg.Cols) / seconds / 1e9
	_, err = fmt.Fprintf(stdout,
		"product  %d x %d x %d (C = %g A B + %g C)\nthreads  %d\nseconds  %.6f (%.1f Gflop/s)\n",
		cfg.Rows, cfg.Inner, cfg.Cols, cfg.Alpha, cfg.Beta, cfg.Threads, seconds, rate)
	return err
}

// Accepted ranges.
const (
	MaxDimension = 1 << 20
	// MaxElements bounds each of the three matrices to 128 MiB.
	MaxElements = 1 << 24
	MaxThreads  = 1024
)

// Config holds the arguments of the service.
type Config struct {
	A, B    string  // files of the factors: Rows x Inner, Inner x Cols
	C       string  // file that is read and replaced: Rows x Cols
	Rows    int     // of A and C, 0 to MaxDimension
	Inner   int     // columns of A, rows of B, 0 to MaxDimension
	Cols    int     // of B and C, 0 to MaxDimension
	Alpha   float64 // factor of the product
	Beta    float64 // factor of the old C
	Threads int     // goroutines that multiply, 1 to MaxThreads
}

// DefaultConfig multiplies on one thread. It has no files.
func DefaultConfig() Config { return Config{Alpha: 1, Threads: 1} }

// Validate reports every argument out of range, each as a *services.ArgumentError.
func (c Config) Validate() error {
	err := errors.Join(
		services.CheckPath("a", c.A),
		services.CheckPath("b", c.B),
		services.CheckPath("c", c.C),
		services.CheckRange("rows", c.Rows, 0, MaxDimension),
		services.CheckRange("inner", c.Inner, 0, MaxDimension),
		services.CheckRange("cols", c.Cols, 0, MaxDimension),
		services.CheckRange("threads", c.Threads, 1, MaxThreads),
	)
	if err != nil {
		return err
	}
	return errors.Join(
		services.CheckRange("elements of a", c.Rows*c.Inner, 0, MaxElements),
		services.CheckRange("elements of b", c.Inner*c.Cols, 0, MaxElements),
		services.CheckRange("elements of c", c.Rows*c.Cols, 0, MaxElements),
	)
}
