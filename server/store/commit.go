package store

import (
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// Commit makes all changes of a batch in one synced transaction, or none: with a
// LimitError, a FullError, a DamagedError if a record it has to look at is not
// what was written, or a BrokenError. The batch stays as it is. A batch without
// changes costs nothing.
func (s *Store) Commit(b *Batch) error {
	switch {
	case b.err != nil:
		return fmt.Errorf("committing: %w", b.err)
	case len(b.changes) == 0:
		return nil
	}
	begin := time.Now()
	err := s.write("committing", func(to *buckets) error {
		for _, c := range b.changes {
			if err := c(to); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Records += int64(len(b.changes))
	s.stats.Bytes += b.bytes
	s.stats.LastCommit = time.Since(begin)
	return nil
}

// write runs a transaction that writes to the buckets.
func (s *Store) write(doing string, f func(*buckets) error) error {
	before := s.size()
	err := s.update(doing, func(tx *bbolt.Tx) error {
		to, err := in(tx)
		if err != nil {
			return asDamaged(s.path, err)
		}
		return f(to)
	})
	if err == nil {
		s.count(before)
	}
	return err
}
