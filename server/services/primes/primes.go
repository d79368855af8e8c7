package primes

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ErrStopped says that the count was stopped, and that what is written down is enough
// to go on.
var ErrStopped = errors.New("stopped at a checkpoint")

// Run counts and writes a report to stdout. When ctx ends before it returns ErrStopped
// if there is a directory for its state, else the error of ctx, both wrapped. Other
// errors are those of Validate and of files.
func Run(ctx context.Context, cfg Config, stdout io.Writer) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	t, err := load(cfg.Checkpoint, cfg.Below)
	if err != nil {
		return err
	}
	if t.Next > 0 {
		if _, err := fmt.Fprintf(stdout, "goes on at  %d\n", t.Next); err != nil {
			return err
		}
	}
	s := newSieve(cfg.Below)
	for t.Next < cfg.Below {
		if ctx.Err() != nil {
			return t.stop(ctx, cfg.Checkpoint)
		}
		s.take(&t)
	}
	_, err = fmt.Fprintf(stdout, "primes      %d below %d\nsum         %d\nlargest     %d\n", t.Count, cfg.Below, t.Sum, t.Largest)
	return err
}

// stop writes down what has been counted.
func (t *state) stop(ctx context.Context, dir string) error {
	if dir == "" {
		return fmt.Errorf("at %d: %w", t.Next, context.Cause(ctx))
	}
	if err := t.save(dir); err != nil {
		return err
	}
	return fmt.Errorf("at %d: %w", t.Next, ErrStopped)
}
