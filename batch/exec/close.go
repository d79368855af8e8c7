package exec

import (
	"context"
	"fmt"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Close starts nothing more, ends what runs (SIGTERM, grace, SIGKILL) and
// returns when it is gone. Ended attempts can still be found and watched; those
// that were running have failed with the reason "batch system closed", waiting
// ones stay as they were. When ctx ends first what is left is killed at once and
// Close returns without waiting for it.
func (s *System) Close(ctx context.Context) error {
	if err := s.ask(ctx, s.close); err != nil {
		return fmt.Errorf("close batch system: %w", err)
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	left := 0
	if err := s.ask(context.WithoutCancel(ctx), func(batch.Time) { left = s.killAll() }); err != nil {
		return fmt.Errorf("close batch system: %w", err)
	}
	if left == 0 {
		return nil
	}
	return fmt.Errorf("close batch system: %d jobs not yet gone: %w", left, ctx.Err())
}

// close is the order to end everything.
func (s *System) close(now batch.Time) {
	if s.closing {
		return
	}
	s.closing, s.retired = true, true
	for _, a := range s.handles {
		if a != nil && !a.waits() {
			s.log.Info("ending job, the batch system closes", "job", a.key.Job)
			s.end(now, a, batch.EndFailed, ErrClosed.Error())
		}
	}
}

// killAll kills what is still there, at once, and returns how much that is.
func (s *System) killAll() int {
	if s.active == 0 || s.released {
		return 0
	}
	s.grace = 0 // for what is only being launched
	for _, a := range s.handles {
		if a != nil && a.run != nil && a.run.proc != nil {
			s.signal(a, syscall.SIGKILL)
		}
	}
	return s.active
}
