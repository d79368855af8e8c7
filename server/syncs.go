package server

import "sync"

// syncs lets those who wait for the same thing to be durable share one sync of it.
// The zero syncs is ready.
type syncs struct {
	mu      sync.Mutex
	running *shared // nil: none
	next    *shared // that has not begun; nil: none
}

// shared is one sync, and what came of it.
type shared struct {
	done chan struct{}
	err  error // set before done is closed
}

// share returns after a run that began after the call. Whoever calls while one is
// under way waits for the next, together with all who do.
func (s *syncs) share(run func() error) error {
	s.mu.Lock()
	mine, before := s.next, s.running
	if mine != nil {
		s.mu.Unlock()
		<-mine.done
		return mine.err
	}
	mine = &shared{done: make(chan struct{})}
	s.next = mine
	s.mu.Unlock()
	if before != nil {
		<-before.done
	}
	s.mu.Lock()
	s.next, s.running = nil, mine // whoever comes from now on may have come too late
	s.mu.Unlock()
	mine.err = run()
	s.mu.Lock()
	s.running = nil
	s.mu.Unlock()
	close(mine.done)
	return mine.err
}
