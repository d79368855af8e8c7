package store

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"
)

// Load calls each for the hot record of every id that is alive, in the order of IDs, and
// returns its first error. The arguments are valid only during the call. each must not
// call the store: a commit that must grow the file's mapping waits for Load.
func (s *Store) Load(each func(id string, hot []byte) error) error {
	return s.read("loading", func(from *buckets) error {
		return from.hot.ForEach(func(id, record []byte) error {
			hot, err := unseal(id, record)
			if err != nil {
				return err
			}
			return callers(func() error { return each(string(id), hot) })
		})
	})
}

// Cold returns a copy of an id's cold record, or ErrNotFound.
func (s *Store) Cold(id string) ([]byte, error) {
	return s.get("reading a cold record", id, func(from *buckets) *bbolt.Bucket { return from.cold })
}

// Meta returns a copy of the value under a key, or ErrNotFound.
func (s *Store) Meta(key string) ([]byte, error) {
	return s.get("reading meta", key, func(from *buckets) *bbolt.Bucket { return from.meta })
}

// Tombstone returns a copy of an id's tombstone, and whether the id is buried.
func (s *Store) Tombstone(id string) (tombstone []byte, buried bool, err error) {
	err = s.read("reading a tombstone", func(from *buckets) error {
		record := from.tombstones.Get([]byte(id))
		if record == nil {
			return nil
		}
		content, _, err := unsealTombstone([]byte(id), record)
		if err != nil {
			return err
		}
		tombstone, buried = bytes.Clone(content), true
		return nil
	})
	return tombstone, buried, err
}

// get returns a copy of the record under a key in a bucket.
func (s *Store) get(doing, key string, of func(*buckets) *bbolt.Bucket) (content []byte, err error) {
	err = s.read(doing, func(from *buckets) error {
		record := of(from).Get([]byte(key))
		if record == nil {
			return fmt.Errorf("%s %q: %w", doing, key, ErrNotFound)
		}
		found, err := unseal([]byte(key), record)
		content = bytes.Clone(found)
		return err
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

// read runs f with the buckets of a read transaction.
func (s *Store) read(doing string, f func(*buckets) error) error {
	return s.view(doing, func(tx *bbolt.Tx) error {
		from, err := in(tx)
		if err != nil {
			return asDamaged(s.path, err)
		}
		return f(from)
	})
}
