package gridrpc

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Wait waits for the session's end, and fills in what the call writes. The code is
// SessionFailed when it has ended, and not well; then and with nil there is nothing
// left to wait for, and another Wait says the same at once. Any other error is one
// of the way there, after which it may be waited for again: NotCompleted when ctx
// ended first, CommunicationFailed, OtherErrorCode for a file that cannot be
// written.
func (s *Session) Wait(ctx context.Context) error {
	if s == nil || s.handle == nil {
		return &CodeError{Code: InvalidSessionID}
	}
	return s.handle.grid.WaitAnd(ctx, s)
}

// WaitAnd waits until all of these sessions have ended. The code is SessionFailed
// when some of them have not ended well: FailedSession tells which. When it could
// not wait for all of them to the end, it is that of the first such session.
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

// WaitAll is WaitAnd for all sessions of the grid whose end no wait has told yet,
// of those called before.
func (g *Grid) WaitAll(ctx context.Context) error {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return g.and(ctx, g.outstanding())
}

// WaitOr waits until one of these sessions has ended and returns it, the first of
// the list when there are several. With SessionFailed it returns the session, too.
// The code is NoneCompleted for an empty list. When none of them could be waited
// for, it is that of the first.
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
		g.told(s)
	}
	return s, err
}

// WaitAny is WaitOr for all sessions of the grid whose end no wait has told yet,
// of those called before: each is returned once. The code is NoneCompleted when
// there are none.
func (g *Grid) WaitAny(ctx context.Context) (*Session, error) {
	ctx, leave, err := g.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	for {
		s, err := or(ctx, g.outstanding())
		if s == nil || g.told(s) { // otherwise somebody else has told of it meanwhile
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
			g.told(s)
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

// gather settles sessions side by side until it is enough, or nothing more can be
// done. It returns why those have not ended that have not.
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
