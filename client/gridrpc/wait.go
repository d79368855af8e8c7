package gridrpc

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Wait waits for the end of the session, and sets what the call writes. The code is
// SessionFailed if the job has not ended well. After that and after nil, another Wait
// returns the same at once. After any other error the session can be waited for again:
// NotCompleted if ctx ended first, CommunicationFailed, OtherErrorCode for a file that
// cannot be written.
func (s *Session) Wait(ctx context.Context) error {
	if s == nil || s.handle == nil {
		return &CodeError{Code: InvalidSessionID}
	}
	return s.handle.grid.WaitAnd(ctx, s)
}

// WaitAnd waits until all of these sessions have ended. The code is SessionFailed if
// some have failed; FailedSession returns them. If a session could not be waited for,
// the code is that of the first such session.
func (g *Grid) WaitAnd(ctx context.Context, sessions ...*Session) error {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := g.check(sessions...); err != nil {
		return err
	}
	return g.and(ctx, sessions)
}

// WaitAll is WaitAnd for the sessions of the grid that no wait has returned yet, as of
// the call.
func (g *Grid) WaitAll(ctx context.Context) error {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return g.and(ctx, g.outstanding())
}

// WaitOr waits until one of these sessions has ended and returns it, the first of the
// list if there are several. With SessionFailed it returns the session too. The code is
// NoneCompleted for an empty list. If no session could be waited for, the code is that
// of the first.
func (g *Grid) WaitOr(ctx context.Context, sessions ...*Session) (*Session, error) {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := g.check(sessions...); err != nil {
		return nil, err
	}
	s, err := or(ctx, sessions)
	if s != nil {
		g.returned(s)
	}
	return s, err
}

// WaitAny is WaitOr for the sessions of the grid that no wait has returned yet, as of
// the call. It returns each session once. The code is NoneCompleted if there are none.
func (g *Grid) WaitAny(ctx context.Context) (*Session, error) {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	for {
		s, err := or(ctx, g.outstanding())
		if s == nil || g.returned(s) { // otherwise another wait has returned it meanwhile
			return s, err
		}
	}
}

func (g *Grid) and(ctx context.Context, sessions []*Session) error {
	stuck := gather(ctx, sessions, func() bool { return false })
	var failed, other []error
	for i, s := range sessions {
		ended, err := s.has()
		switch {
		case slices.Contains(sessions[:i], s):
		case !ended:
			other = append(other, stuck[s])
		case err != nil:
			failed = append(failed, err)
		}
		if ended {
			g.returned(s)
		}
	}
	all := slices.Concat(other, failed)
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &CodeError{Code: CodeOf(all[0]), Err: errors.Join(all...)}
}

func or(ctx context.Context, sessions []*Session) (*Session, error) {
	if len(sessions) == 0 {
		return nil, &CodeError{Code: NoneCompleted}
	}
	first := func() (s *Session, err error) {
		for _, s := range sessions {
			if ended, err := s.has(); ended {
				return s, err
			}
		}
		return nil, nil
	}
	if s, err := first(); s != nil {
		return s, err
	}
	stuck := gather(ctx, sessions, func() bool { s, _ := first(); return s != nil })
	if s, err := first(); s != nil {
		return s, err
	}
	return nil, stuck[sessions[0]]
}

// gather settles sessions concurrently until there are enough, or all have returned. It
// returns the errors of those that have not ended.
func gather(ctx context.Context, sessions []*Session, enough func() bool) map[*Session]error {
	ctx, stop := context.WithCancel(ctx)
	type result struct {
		session *Session
		err     error
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	stuck := make(map[*Session]error)
	for _, s := range sessions {
		stuck[s] = nil
	}
	results := make(chan result, len(stuck))
	for s := range stuck {
		wg.Go(func() { results <- result{s, s.settle(ctx)} })
	}
	for range len(stuck) {
		r := <-results
		stuck[r.session] = r.err
		if enough() {
			break
		}
	}
	return stuck
}

// Probe reports whether the session's job has ended: nil if it has, well or not,
// NotCompleted if it has not or its site does not answer. It does not set what the call
// writes; the waits do.
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

// ProbeOr returns the first of these sessions with an ended job. The code is
// NoneCompleted if there is none. If none is known to have ended and a probe failed, the
// code is that of the first failure.
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

// Cancel cancels the session's job and does not wait for its end: a wait returns
// SessionFailed, unless the job ended first. It is nil for a job that has ended. The
// code is NotCompleted if the cancel is recorded during a move and not decided before
// patience ran out.
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

// CancelAll is Cancel for the sessions of the grid that no wait has returned yet.
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
