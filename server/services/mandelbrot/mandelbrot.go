package mandelbrot

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// Run renders the view that cfg describes, writes it to cfg.Output as a PNG
// and a report to stdout. It returns Validate's errors, file errors or ctx's
// error, wrapped; then no output file is written.
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
	_, err = fmt.Fprintf(stdout, "view        %v\nthreads     %d\niterations  %d\nseconds     %.4f (without encoding)\n",
		cfg, cfg.Threads, iterations, seconds)
	return err
}

// cancelWriter stops a writer, here the PNG encoder, once ctx is cancelled.
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
