package primes

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed-9b8f70bb/drover/server/services"
)

// ErrStopped reports that the count was stopped and wrote a checkpoint to resume from.
var ErrStopped = errors.New("stopped at a checkpoint")

// Run counts the primes and writes a report to stdout. If ctx is cancelled before the end,
// it returns ErrStopped after a checkpoint, or ctx's error without a checkpoint directory,
// both wrapped. Other errors are those of Validate and of files.
func Run(ctx context.Context, cfg Config, stdout io.Writer) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	t, err := load(cfg.Checkpoint, cfg.Below)
	if err != nil {
		return err
	}
	if t.Next > 0 {
		if _, err := fmt.Fprintf(stdout, "resumed at  %d\n", t.Next); err != nil {
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
	_, err = fmt.Fprintf(stdout, "primes      %d below %d\nsum         %d\nlargest     %d\n", t.Count, cfg.Below, t.Sum,
		t.Largest)
	return err
}

// stop writes a checkpoint.
func (t *state) stop(ctx context.Context, dir string) error {
	if dir == "" {
		return fmt.Errorf("at %d: %w", t.Next, context.Cause(ctx))
	}
	if err := t.save(dir); err != nil {
		return err
	}
	return fmt.Errorf("at %d: %w", t.Next, ErrStopped)
}

// Accepted ranges: the sum of all primes below MostBelow is below 2^64.
const (
	LeastBelow = 2
	MostBelow  = 10_000_000_000
)

// Config holds the arguments of the service.
type Config struct {
	Below      int    // counts the primes below it, LeastBelow to MostBelow
	Checkpoint string // directory for its state; empty: no checkpoint
}

// Validate reports an argument out of range, as a *services.ArgumentError.
func (c Config) Validate() error {
	return errors.Join(services.CheckRange("below", c.Below, LeastBelow, MostBelow))
}
