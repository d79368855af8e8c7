package exec

import (
	"context"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Release ends the loop and leaves what runs to whoever supervises it: nothing
// more is started or signalled, and of what ends from now on only that is told
// which was seen before the loop was over. Attempts can still be found and
// watched, as they were last.
//
// Processes that are Detachers are detached; the goroutine of any other stays in
// its Wait until that returns. A launch that is under way is waited for, since
// Launch is not told to give up, and what it has started is left like the rest;
// one that fails is not told, for it may have failed because the server stops.
// When ctx ends first such launches are left to themselves and Release returns an
// error that says how many. After Close it lets go of what Close waits for.
func (s *System) Release(ctx context.Context) error {
	if err := s.ask(ctx, s.letGo); err != nil {
		return fmt.Errorf("release batch system: %w", err)
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	left := 0
	if err := s.ask(context.WithoutCancel(ctx), func(batch.Time) { left, s.active = s.active, 0 }); err != nil {
		return fmt.Errorf("release batch system: %w", err)
	}
	<-s.done
	if left == 0 {
		return nil
	}
	return fmt.Errorf("release batch system: %d jobs still being launched: %w", left, ctx.Err())
}

// letGo is the order to leave everything.
func (s *System) letGo(batch.Time) {
	if s.released {
		return
	}
	s.closing, s.retired, s.released = true, true, true
	for _, a := range s.handles {
		if a == nil || a.run == nil {
			continue
		}
		s.timers.set(a, batch.Never) // nothing is signalled
		if a.run.proc != nil {
			s.leaveAlone(a)
		}
	}
}

// leaveAlone stops following an attempt that was launched. One that cannot be
// detached is not waited for.
func (s *System) leaveAlone(a *attempt) {
	if a.run.gone != nil {
		close(a.run.gone)
		a.run.gone = nil
	}
	if !detach(a.run.proc) {
		a.run.left = true
		s.active--
	}
}

// detach says whether proc can be left running.
func detach(proc Launched) bool {
	d, ok := proc.(Detacher)
	if ok {
		d.Detach()
	}
	return ok
}
