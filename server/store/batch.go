package store

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// Batch holds changes that are committed together, in the order of their addition. The
// zero Batch is empty and ready to use. Batch copies its arguments.
type Batch struct {
	changes []change
	bytes   int64
	err     error // of the first change that exceeds a limit
}

// change is one step of a batch.
type change func(b *buckets) error

// Put sets the hot record of an id, which makes it alive, and removes the id's tombstone
// if it has one.
func (b *Batch) Put(id string, hot []byte) {
	key, record := []byte(id), seal([]byte(id), nil, hot)
	b.add("ID", id, hot, func(in *buckets) error {
		if err := in.unbury(key); err != nil {
			return err
		}
		return in.hot.Put(key, record)
	})
}

// PutCold sets the cold record of an id that is alive or becomes alive later. Only Bury,
// Delete and DeleteCold remove it.
func (b *Batch) PutCold(id string, cold []byte) {
	key, record := []byte(id), seal([]byte(id), nil, cold)
	b.add("ID", id, cold, func(in *buckets) error { return in.cold.Put(key, record) })
}

// DeleteCold removes the cold record of an id, if it has one.
func (b *Batch) DeleteCold(id string) {
	b.add("ID", id, nil, func(in *buckets) error { return in.cold.Delete([]byte(id)) })
}

// Bury replaces the id's records by a tombstone. Expire removes the tombstone from until
// on, in microseconds.
func (b *Batch) Bury(id string, tombstone []byte, until int64) {
	key, record := []byte(id), sealTombstone(id, tombstone, until)
	b.add("ID", id, tombstone, func(in *buckets) error {
		if err := in.forget(key); err != nil {
			return err
		}
		if err := in.until.Put(untilKey(until, key), nil); err != nil {
			return err
		}
		return in.tombstones.Put(key, record)
	})
}

// Delete removes all records and the tombstone of an id, if it has any.
func (b *Batch) Delete(id string) {
	b.add("ID", id, nil, func(in *buckets) error { return in.forget([]byte(id)) })
}

// SetMeta sets the value of a key that is not an id.
func (b *Batch) SetMeta(key string, value []byte) {
	record := seal([]byte(key), nil, value)
	b.add("key", key, value, func(in *buckets) error { return in.meta.Put([]byte(key), record) })
}

// Len returns the number of changes.
func (b *Batch) Len() int { return len(b.changes) }

// Reset empties the batch.
func (b *Batch) Reset() {
	clear(b.changes)
	*b = Batch{changes: b.changes[:0]}
}

// add adds a change within the limits; otherwise it records a LimitError.
func (b *Batch) add(what, key string, content []byte, c change) {
	switch {
	case b.err != nil:
	case key == "" || len(key) > LargestID:
		b.err = &LimitError{What: what, Got: len(key), Limit: LargestID}
	case len(content) > LargestRecord:
		b.err = &LimitError{What: "record " + key, Got: len(content), Limit: LargestRecord}
	default:
		b.changes = append(b.changes, c)
		b.bytes += int64(len(key) + len(content))
	}
}

// forget removes all records and the tombstone of an id.
func (in *buckets) forget(id []byte) error {
	for _, from := range []*bbolt.Bucket{in.hot, in.cold} {
		if err := from.Delete(id); err != nil {
			return err
		}
	}
	return in.unbury(id)
}

// unbury removes an id's tombstone and its index entry.
func (in *buckets) unbury(id []byte) error {
	record := in.tombstones.Get(id)
	if record == nil {
		return nil
	}
	_, until, err := unsealTombstone(id, record)
	if err != nil {
		return err
	}
	if err := in.until.Delete(untilKey(until, id)); err != nil {
		return err
	}
	return in.tombstones.Delete(id)
}

// Commit makes all changes of a batch in one synced transaction, or none and returns a
// LimitError, a FullError, a BrokenError, or a DamagedError if a record that it reads is
// damaged. It does not change the batch. An empty batch writes nothing.
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

// write runs f with the buckets of a write transaction and counts the commit.
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

// Expire removes at most limit tombstones with an until not after now, in microseconds,
// oldest first, in one synced transaction. It returns their number. Without due
// tombstones it writes nothing.
func (s *Store) Expire(now int64, limit int) (int, error) {
	due := false
	if err := s.read("looking for expired tombstones", func(from *buckets) error {
		key, _ := from.until.Cursor().First()
		due = isDue(key, now)
		return nil
	}); err != nil || !due {
		return 0, err
	}
	n := 0
	err := s.write("expiring", func(from *buckets) error {
		n = 0
		var due [][]byte
		cursor := from.until.Cursor()
		for key, _ := cursor.First(); isDue(key, now) && len(due) < limit; key, _ = cursor.Next() {
			due = append(due, key)
		}
		for _, key := range due {
			// This removes the index key that the tombstone refers to. A different key
			// would stay in the index and be due forever.
			if err := from.forget(key[untilSize:]); err != nil {
				return err
			}
			if left, _ := from.until.Cursor().Seek(key); bytes.Equal(left, key) {
				return fmt.Errorf("index of tombstones: %x: %w", key, errSum)
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// isDue reports whether an index key belongs to an expired tombstone.
func isDue(key []byte, now int64) bool {
	return len(key) >= untilSize && untilOf(key) <= now
}

// probeSize is the free space in bytes that makes a store writable: more than the pages
// that a commit of a group of small records rewrites.
const probeSize = 64 << 10

var keyProbe = []byte("probe")

// Probe returns an error unless the store is writable. It writes and syncs probeSize
// bytes and removes them again, so the next commit has this much free space in the file.
func (s *Store) Probe() error {
	if err := s.write("probing", func(to *buckets) error {
		return to.about.Put(keyProbe, make([]byte, probeSize))
	}); err != nil {
		return err
	}
	return s.write("removing the probe", func(to *buckets) error {
		return to.about.Delete(keyProbe)
	})
}
