package store

import "go.etcd.io/bbolt"

// Batch is changes that are made together or not at all, in the order in which
// they were added. The zero Batch is empty and ready. It copies what it is given.
type Batch struct {
	changes []change
	bytes   int64
	err     error // the first that it could not hold
}

// change is one step of a batch.
type change func(b *buckets) error

// Put makes an id alive with this hot record, or changes the record. The id's
// tombstone, if it has one, goes.
func (b *Batch) Put(id string, hot []byte) {
	key, record := []byte(id), seal([]byte(id), nil, hot)
	b.add("ID", id, hot, func(in *buckets) error {
		if err := in.unbury(key); err != nil {
			return err
		}
		return in.hot.Put(key, record)
	})
}

// PutCold adds a cold record to an id that is or will be alive, or changes it.
// What buries or deletes the id takes the cold record with it, and nothing else.
func (b *Batch) PutCold(id string, cold []byte) {
	key, record := []byte(id), seal([]byte(id), nil, cold)
	b.add("ID", id, cold, func(in *buckets) error { return in.cold.Put(key, record) })
}

// DeleteCold takes the cold record away. There need not be one.
func (b *Batch) DeleteCold(id string) {
	b.add("ID", id, nil, func(in *buckets) error { return in.cold.Delete([]byte(id)) })
}

// Bury puts a tombstone in place of the id's records. Expire takes it away when
// it is told an instant not before until (microseconds).
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

// Delete takes everything about an id away. There need not be anything.
func (b *Batch) Delete(id string) {
	b.add("ID", id, nil, func(in *buckets) error { return in.forget([]byte(id)) })
}

// SetMeta keeps a value under a key that is no id.
func (b *Batch) SetMeta(key string, value []byte) {
	record := seal([]byte(key), nil, value)
	b.add("key", key, value, func(in *buckets) error { return in.meta.Put([]byte(key), record) })
}

// Len returns how many changes there are.
func (b *Batch) Len() int { return len(b.changes) }

// Reset empties the batch.
func (b *Batch) Reset() {
	clear(b.changes)
	*b = Batch{changes: b.changes[:0]}
}

// add takes a change if it is within the limits.
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

// forget takes everything about an id away.
func (in *buckets) forget(id []byte) error {
	for _, from := range []*bbolt.Bucket{in.hot, in.cold} {
		if err := from.Delete(id); err != nil {
			return err
		}
	}
	return in.unbury(id)
}

// unbury takes an id's tombstone away, and its place in the index.
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
