package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// Store is an open file. Its methods are safe for concurrent use; write transactions run
// one after another.
type Store struct {
	path   string
	logger hclog.Logger
	file   *os.File
	db     *bbolt.DB
	broken atomic.Pointer[BrokenError]

	mu    sync.Mutex // guards stats
	stats Stats
}

// Close waits for running transactions and closes the file.
func (s *Store) Close() error {
	if s.broken.Load() != nil || s.db == nil {
		// The failure may have left bbolt's locks held forever. Only the lock on the file
		// must be released.
		return release(s.file)
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing store %s: %w", s.path, err)
	}
	return nil
}

// view runs a read transaction.
func (s *Store) view(doing string, f func(*bbolt.Tx) error) error {
	if b := s.broken.Load(); b != nil {
		return b
	}
	return s.explain(doing, s.guard(func() error { return s.db.View(f) }))
}

// update runs a write transaction and syncs it.
func (s *Store) update(doing string, f func(*bbolt.Tx) error) error {
	if b := s.broken.Load(); b != nil {
		return b
	}
	id := 0
	err := s.guard(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			id = tx.ID()
			return f(tx)
		})
	})
	if err == nil && !s.inPlace() {
		s.breaks(errors.New("the file was removed or replaced while it was open"))
		return s.broken.Load()
	}
	if err == nil || s.broken.Load() != nil || errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		return s.explain(doing, err)
	}
	s.unlessUndone(id, err)
	return s.explain(doing, err)
}

// inPlace reports whether the path still refers to the open file. Otherwise all writes
// are lost when this process ends.
func (s *Store) inPlace() bool {
	there, err := os.Stat(s.path)
	if err != nil {
		// Any other error does not prove that the file is gone.
		return !errors.Is(err, fs.ErrNotExist)
	}
	own, err := s.file.Stat()
	return err != nil || os.SameFile(there, own)
}

// unlessUndone breaks the store if a failed transaction may be stored nevertheless. A
// failure before the header is written leaves no trace. If the header was written but not
// synced, it is valid in memory and possibly on disk. Another sync would prove nothing,
// because the system forgets failed writes. If the file could not be remapped, the store
// cannot read any more.
func (s *Store) unlessUndone(id int, cause error) {
	last := 0
	err := s.guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			last = tx.ID()
			return nil
		})
	})
	if err != nil || last >= id {
		s.breaks(fmt.Errorf("the result of the last commit is unknown: %w", cause))
	}
}

// guard runs a function that reads the mapped file. A damaged page makes bbolt panic. A
// page that is unreadable or beyond the end of the file causes a memory fault, which would
// crash the process. guard turns both into a DamagedError and breaks the store.
func (s *Store) guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if c, ok := p.(callerPanic); ok {
			panic(c.value)
		}
		err = &DamagedError{Path: s.path, Err: fmt.Errorf("reading it failed: %v", p)}
		s.breaks(err)
	}()
	return f()
}

// callerPanic is a panic in a caller's function, which is not damage.
type callerPanic struct{ value any }

// callers runs a caller's function inside guard and passes its panic through.
func callers(f func() error) error {
	defer func() {
		if p := recover(); p != nil {
			panic(callerPanic{p})
		}
	}()
	return f()
}

// breaks marks the store as broken. The first reason is kept.
func (s *Store) breaks(err error) {
	if s.broken.CompareAndSwap(nil, &BrokenError{Path: s.path, Err: err}) {
		s.logger.Error("store broken, reopen required", "path", s.path, "error", err)
	}
}

// explain converts an error to its type and adds the operation.
func (s *Store) explain(doing string, err error) error {
	var damaged *DamagedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &damaged), errors.Is(err, ErrNotFound):
		return err
	case errors.Is(err, errSum):
		return asDamaged(s.path, err)
	case errors.Is(err, bbolterrors.ErrDatabaseNotOpen):
		return fmt.Errorf("%s: %w", doing, ErrClosed)
	}
	return fmt.Errorf("%s: %w", doing, asRoom(s.path, err))
}

// Stats counts the work of a store since it was opened.
type Stats struct {
	Commits    int64         // transactions that wrote: Commit, Expire and Probe
	Syncs      int64         // syncs of the file
	Records    int64         // committed changes
	Bytes      int64         // of keys and records in committed changes
	LastCommit time.Duration // duration of the last successful Commit, with its wait for others
	FileSize   int64         // current size in bytes; deleted space is reused, not freed
}

// Stats returns the current counts.
func (s *Store) Stats() Stats {
	size := s.size()
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.FileSize = size
	return stats
}

// count counts one transaction. bbolt syncs the file if it had to grow, then the pages,
// then the header that makes them valid.
func (s *Store) count(before int64) {
	grown := s.size() > before
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Commits++
	s.stats.Syncs += 2
	if grown {
		s.stats.Syncs++
	}
}

// size returns the size of the file in bytes; 0 if it is closed.
func (s *Store) size() int64 {
	info, err := s.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
