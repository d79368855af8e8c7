package gemm

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Run multiplies what cfg names, replaces the file cfg.C by the result, and writes a
// report to stdout. It returns Validate's errors, *services.ArgumentError for files of the
// wrong size, or ctx's error, all wrapped; then the file is as it was.
//
// A cancelled ctx ends it after the panels in hand, a few milliseconds each.
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
	_, err = fmt.Fprintf(stdout, "product  %d x %d x %d (C = %g A B + %g C)\nthreads  %d\nseconds  %.6f (%.1f Gflop/s)\n",
		cfg.Rows, cfg.Inner, cfg.Cols, cfg.Alpha, cfg.Beta, cfg.Threads, seconds, rate)
	return err
}
