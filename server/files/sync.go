package files

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// syncs lets callers that need the same thing to be durable share one sync of it. The
// zero value is ready.
type syncs struct {
	mu      sync.Mutex
	running *sharedSync // nil: none
	next    *sharedSync // has not started; nil: none
}

// sharedSync is one sync and its result.
type sharedSync struct {
	done chan struct{}
	err  error // set before done is closed
}

// share returns after a run that started after the call. Callers that arrive during a
// run share the next one.
func (s *syncs) share(run func() error) error {
	s.mu.Lock()
	mine, before := s.next, s.running
	if mine != nil {
		s.mu.Unlock()
		<-mine.done
		return mine.err
	}
	mine = &sharedSync{done: make(chan struct{})}
	s.next = mine
	s.mu.Unlock()
	if before != nil {
		<-before.done
	}
	s.mu.Lock()
	s.next, s.running = nil, mine // later callers are too late for this run
	s.mu.Unlock()
	mine.err = run()
	s.mu.Lock()
	s.running = nil
	s.mu.Unlock()
	close(mine.done)
	return mine.err
}

// SyncDirs makes the entries of directories durable.
func SyncDirs(dirs ...string) error {
	for _, name := range dirs {
		d, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("sync: %w", err)
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
	}
	return nil
}
