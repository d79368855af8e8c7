package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// Store is one open file. Its methods may be called from several goroutines;
// transactions that write follow one another.
type Store struct {
	path   string
	logger hclog.Logger
	file   *os.File
	db     *bbolt.DB
	broken atomic.Pointer[BrokenError]

	mu    sync.Mutex // of stats
	stats Stats
}

// Close waits for what is under way, and gives the file back.
func (s *Store) Close() error {
	if s.broken.Load() != nil || s.db == nil {
		// What broke the store may hold bbolt's locks for ever. What matters is the
		// lock on the file.
		return release(s.file)
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing store %s: %w", s.path, err)
	}
	return nil
}

// view runs a transaction that reads.
func (s *Store) view(doing string, f func(*bbolt.Tx) error) error {
	if b := s.broken.Load(); b != nil {
		return b
	}
	return s.explain(doing, s.guard(func() error { return s.db.View(f) }))
}

// update runs a transaction that writes, and syncs it.
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

// inPlace says whether the file is still the one that opening the path anew would
// find: what is written to one that is not is lost with this process.
func (s *Store) inPlace() bool {
	there, err := os.Stat(s.path)
	if err != nil {
		// Only what certainly is not there is lost.
		return !errors.Is(err, fs.ErrNotExist)
	}
	own, err := s.file.Stat()
	return err != nil || os.SameFile(there, own)
}

// unlessUndone breaks the store if a failed transaction may be there all the
// same. What fails before the header is written leaves nothing. When the header
// was written and could not be synced, it counts in memory and perhaps on disk,
// and syncing again proves nothing: the system forgets what it could not write.
// When the file could not be mapped anew there is nothing left to read from.
func (s *Store) unlessUndone(id int, cause error) {
	last := 0
	err := s.guard(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			last = tx.ID()
			return nil
		})
	})
	if err != nil || last >= id {
		s.breaks(fmt.Errorf("what the last commit left is not known: %w", cause))
	}
}

// guard runs what reads the mapped file. A page that is not what it should be
// makes bbolt panic, and one that cannot be read, or is no longer in the file, is
// a fault at its address, which would end the process.
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

// callerPanic is a panic in a caller's function, which is no damage.
type callerPanic struct{ value any }

// callers runs a caller's function inside guard.
func callers(f func() error) error {
	defer func() {
		if p := recover(); p != nil {
			panic(callerPanic{p})
		}
	}()
	return f()
}

// breaks ends the store. The first reason stays.
func (s *Store) breaks(err error) {
	if s.broken.CompareAndSwap(nil, &BrokenError{Path: s.path, Err: err}) {
		s.logger.Error("the store has to be opened anew", "path", s.path, "error", err)
	}
}

// explain gives an error its type, and says what was being done.
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
