package store

import (
	"bytes"
	"fmt"
)

// Expire takes away tombstones whose until is not after now (microseconds), the
// oldest first, at most limit of them in one synced transaction. It returns how
// many; with nothing to take away nothing is written.
func (s *Store) Expire(now int64, limit int) (int, error) {
	due := false
	if err := s.read("looking for what expires", func(from *buckets) error {
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
			// This takes away the key that the tombstone leads to. Another is left, and
			// would be found due for ever.
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

// isDue reports whether a key of the index is of a tombstone whose time is over.
func isDue(key []byte, now int64) bool {
	return len(key) >= untilSize && untilOf(key) <= now
}
