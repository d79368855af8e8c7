package gridrpc

import (
	"context"
	"errors"
)

// Probe asks whether the session's job has ended: nil when it has, well or not,
// NotCompleted when it has not, or its site cannot say. Nothing that the call
// writes is filled in: that is for the waits.
func (s *Session) Probe(ctx context.Context) error {
	if s == nil || s.handle == nil {
		return &CodeError{Code: InvalidSessionID}
	}
	ctx, leave, err := s.handle.grid.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.probe(ctx)
}

// ProbeOr returns the first of these sessions whose job has ended. The code is
// NoneCompleted when none has, or there is no session. When none is known to have
// ended, and some could not be asked for, it is that of the first of those.
func (g *Grid) ProbeOr(ctx context.Context, sessions ...*Session) (*Session, error) {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := g.check(sessions...); err != nil {
		return nil, err
	}
	var unasked error
	for _, s := range sessions {
		err := s.probe(ctx)
		switch {
		case err == nil:
			return s, nil
		case CodeOf(err) != NotCompleted && unasked == nil, ctx.Err() != nil:
			unasked = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	if unasked != nil {
		return nil, unasked
	}
	return nil, &CodeError{Code: NoneCompleted}
}

func (s *Session) probe(ctx context.Context) error {
	if s.Job().State.Final() {
		return nil
	}
	job, err := s.execution.Refresh(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return s.abandoned(ctx)
	case err != nil:
		return coded(err, s)
	case !job.State.Final() || job.UnknownFor > 0:
		return &CodeError{Code: NotCompleted, Session: s}
	}
	return nil
}

// Cancel ends the session's job, and does not wait until it has ended: a wait will
// say SessionFailed, unless the job was faster. Of one that has ended already it
// is nil. The code is NotCompleted when the cancel is recorded while the job is on
// its way between two sites, and was not answered for as long as patience lasts.
func (s *Session) Cancel(ctx context.Context) error {
	if s == nil || s.handle == nil {
		return &CodeError{Code: InvalidSessionID}
	}
	ctx, leave, err := s.handle.grid.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.cancel(ctx)
}

// CancelAll is Cancel for all sessions of the grid whose end no wait has told yet.
func (g *Grid) CancelAll(ctx context.Context) error {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	var failed []error
	for _, s := range g.outstanding() {
		if err := s.cancel(ctx); err != nil {
			failed = append(failed, err)
		}
	}
	switch len(failed) {
	case 0:
		return nil
	case 1:
		return failed[0]
	}
	return &CodeError{Code: CodeOf(failed[0]), Err: errors.Join(failed...)}
}

func (s *Session) cancel(ctx context.Context) error {
	job := s.Job()
	if job.State.Final() {
		return nil
	}
	_, err := s.handle.grid.client.Cancel(ctx, job.ID)
	if err != nil && ctx.Err() != nil {
		return s.abandoned(ctx)
	}
	return coded(err, s)
}
