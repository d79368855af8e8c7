package server

import (
	"context"
	"errors"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/server/site"
)

// follow reads the changes of the batch system until it is closed or ctx ends.
func (s *Server) follow(ctx context.Context) {
	var at batch.Cursor
	for {
		got, err := s.system.Watch(ctx, at)
		var lost *exec.CursorError
		switch {
		case errors.As(err, &lost):
			// What has been forgotten meanwhile is not learned any more; all the
			// rest comes again, and the core knows repeated news.
			s.log.Error("changes of the batch system were missed", "error", err)
			at = 0
			continue
		case err != nil:
			if !errors.Is(err, exec.ErrClosed) && ctx.Err() == nil {
				s.log.Error("watching the batch system", "error", err)
			}
			return
		}
		for i := range got.Jobs {
			s.learn(ctx, &got.Jobs[i])
		}
		at = got.Next
	}
}

// instant converts a time of the batch system.
func instant(t time.Time) batch.Time { return batch.Time(t.UnixMicro()) }

// learn tells the core what became of an attempt. The end of one is told when
// what it has written has been looked at.
func (s *Server) learn(ctx context.Context, f *batch.Found) {
	var (
		job  site.Job
		news bool
	)
	// The loop ends after the watcher.
	_ = s.do(context.WithoutCancel(ctx), func() {
		if ran(f) {
			s.tell(s.core.Running(instant(f.Started), f.Key, f.Nodes))
		} else if f.Phase == batch.PhaseStarting {
			s.tell(s.core.Starting(instant(f.Started), f.Key))
		}
		j, err := s.core.Job(f.Key.Job)
		job, news = j, err == nil && j.Key() == f.Key && !j.State.Final()
	})
	if f.Phase != batch.PhaseEnded || !news {
		return
	}
	ended := *f
	s.work.Go(func() {
		var outputs []output
		if ran(&ended) {
			outputs = s.outputs(ctx, &job)
		}
		_ = s.do(context.WithoutCancel(ctx), func() {
			if e := s.entries[ended.Key.Job]; e != nil {
				e.outputs = outputs
			}
			if s.tell(s.core.Ended(instant(ended.Ended), ended.Key, ended.Outcome)) {
				s.finished(ended.Key.Job)
			}
		})
	})
}

// ran says whether an attempt was launched.
func ran(f *batch.Found) bool {
	switch f.Phase {
	case batch.PhaseRunning, batch.PhasePaused:
		return true
	case batch.PhaseEnded:
		return !f.Started.IsZero() && f.Outcome.End != batch.EndStartFailed && f.Outcome.End != batch.EndNeverRan
	}
	return false
}

// tell passes news of a job on, and says whether there were any; called by the
// loop.
func (s *Server) tell(j site.Job, err error) bool {
	var (
		refusal *site.Refusal
		misfit  *site.TransitionError
	)
	switch {
	case errors.As(err, &misfit): // old news, read again
		return false
	case errors.As(err, &refusal): // a job that was forgotten
		return false
	case err != nil:
		s.log.Error("news of a job", "error", err)
		return false
	}
	return s.changed(j)
}
