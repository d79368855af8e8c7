package supervisor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// Dismiss makes the supervisor of a data directory exit as soon as no program is left,
// without lingering for a server that could come back, and waits for that. With kill it kills
// all programs at once, for a site that is given up. If there is no supervisor, Dismiss does
// nothing.
func Dismiss(ctx context.Context, dir string, kill bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("dismiss supervisor: %w", err)
	}
	r := newRemote(dir)
	defer r.conns.close()
	next, stop, err := r.Watch(ctx)
	if absent(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("dismiss supervisor: %w", err)
	}
	defer stop()
	if err := r.Dismiss(ctx, kill); err != nil && !errors.Is(err, rpc.ErrGone) {
		return fmt.Errorf("dismiss supervisor: %w", err)
	}
	for {
		if _, err := next(); ctx.Err() != nil {
			return fmt.Errorf("dismiss supervisor: %w", context.Cause(ctx))
		} else if err != nil {
			return nil // the watch ends with the supervisor
		}
	}
}

// Dismiss ends the supervisor as soon as no program is left.
func (s *supervisor) Dismiss(kill bool) {
	s.mu.Lock()
	s.log.Info("dismissed", "programs", len(s.attempts), "kill", kill)
	var all []attempt.Name
	for _, t := range s.attempts {
		all = append(all, t.Name)
	}
	s.idle.stop()
	s.mu.Unlock()
	if !kill {
		return
	}
	for _, a := range all {
		if err := s.Signal(a, syscall.SIGKILL); err != nil {
			s.log.Info("kill failed", "job", a.Key.Job, "error", err)
		}
	}
}
