package gridrpc

import (
	"context"
	"slices"
	"sync"

	"github.com/seed-9b8f70bb/drover/client"
)

// mostSettled bounds how many sessions a grid finds by their IDs, and how many failed
// ones it lists, after a wait has returned them. A *Session itself stays valid.
const mostSettled = 4096

// SessionID names a session in any process: it is the ID of its job. The session keeps
// it when a new attempt replaces the job (see client.Rerun).
type SessionID string

// Session is an asynchronous call. Its methods may be called from several goroutines.
// The zero Session is invalid.
type Session struct {
	handle *Handle
	id     SessionID

	// turn is held by the goroutine that follows the execution and fetches outputs.
	turn      chan struct{}
	execution *client.Execution
	outputs   []*client.Destination

	mu    sync.Mutex
	ended bool  // guarded by mu: the job has ended, and its outputs are in place
	err   error // guarded by mu: of ended; a *CodeError of SessionFailed
}

// ID returns the session's ID.
func (s *Session) ID() SessionID { return s.id }

// Job returns the job as it was last seen. It is another one than the first if a new
// attempt replaced it. Job makes no call.
func (s *Session) Job() *client.Job { return s.execution.Job() }

// Err returns the state of the session as a wait or a probe last saw it: nil if it has
// ended well, NotCompleted, or SessionFailed with a *client.EndError. It makes no call.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return s.err
	case s.execution == nil:
		return &CodeError{Code: InvalidSessionID}
	}
	if job := s.Job(); job.State.Final() && job.State != client.Done {
		return s.failed(job)
	}
	return &CodeError{Code: NotCompleted, Session: s}
}

func (s *Session) failed(j *client.Job) error {
	return &CodeError{Code: SessionFailed, Session: s, Err: &client.EndError{Job: j}}
}

// end notes that the session is complete.
func (s *Session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.err = true, err
}

// has reports whether the session is complete, and its error.
func (s *Session) has() (ended bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended, s.err
}

// settle follows the job to its end and fetches its outputs. After an error the session
// may be incomplete.
func (s *Session) settle(ctx context.Context) error {
	if ended, err := s.has(); ended {
		return err
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return s.abandoned(ctx)
	}
	if ended, err := s.has(); ended {
		return err
	}
	job := s.Job()
	if !job.State.Final() {
		last, err := s.execution.Wait(ctx)
		if err != nil {
			return s.stuck(ctx, err)
		}
		job = last
	}
	if job.State != client.Done {
		s.end(s.failed(job))
		return s.Err()
	}
	for _, o := range s.outputs {
		if err := o.Fetch(ctx, s.handle.grid.client, job.ID); err != nil {
			return s.stuck(ctx, err)
		}
	}
	s.end(nil)
	return nil
}

// stuck is the error of an incomplete session.
func (s *Session) stuck(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return s.abandoned(ctx)
	}
	return coded(err, s)
}

// abandoned is the error of a wait after the end of its context.
func (s *Session) abandoned(ctx context.Context) error {
	cause := context.Cause(ctx)
	if CodeOf(cause) == NotInitialized {
		return &CodeError{Code: NotInitialized, Session: s}
	}
	return &CodeError{Code: NotCompleted, Session: s, Err: cause}
}

// sessions are the sessions of a grid.
type sessions struct {
	byID    map[SessionID]*Session
	open    []*Session // that no wait has returned, in the order of their calls
	settled []SessionID
	failed  []*Session // that FailedSession has not returned
}

// opened adds a new session.
func (g *Grid) opened(s *Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.list.byID == nil {
		g.list.byID = make(map[SessionID]*Session)
	}
	g.list.byID[s.id] = s
	g.list.open = append(g.list.open, s)
}

// returned notes that a wait returns a session, and reports whether it is the first one.
func (g *Grid) returned(s *Session) bool {
	_, err := s.has()
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &g.list
	i := slices.Index(l.open, s)
	if i < 0 {
		return false
	}
	l.open = slices.Delete(l.open, i, i+1)
	if l.settled = append(l.settled, s.id); len(l.settled) > mostSettled {
		delete(l.byID, l.settled[0])
		l.settled = l.settled[1:]
	}
	if err != nil {
		l.failed = append(l.failed, s)
		l.failed = l.failed[max(0, len(l.failed)-mostSettled):]
	}
	return true
}

// outstanding returns the sessions that no wait has returned.
func (g *Grid) outstanding() []*Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.list.open)
}

// Session returns the session with an ID. The code is InvalidSessionID if it is not of
// this grid, or ended long ago.
func (g *Grid) Session(id SessionID) (*Session, error) {
	_, leave, err := g.enter(context.Background())
	if err != nil {
		return nil, err
	}
	defer leave()
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.list.byID[id]
	if s == nil {
		return nil, &CodeError{Code: InvalidSessionID}
	}
	return s, nil
}

// FailedSession returns a failed session that a wait has returned, each once, the oldest
// first; nil if there is none.
func (g *Grid) FailedSession() (*Session, error) {
	_, leave, err := g.enter(context.Background())
	if err != nil {
		return nil, err
	}
	defer leave()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.list.failed) == 0 {
		return nil, nil
	}
	s := g.list.failed[0]
	g.list.failed = g.list.failed[1:]
	return s, nil
}

// check refuses sessions of another grid.
func (g *Grid) check(sessions ...*Session) error {
	for _, s := range sessions {
		if s == nil || s.handle == nil || s.handle.grid != g {
			return &CodeError{Code: InvalidSessionID}
		}
	}
	return nil
}
