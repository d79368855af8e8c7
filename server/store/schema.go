package store

import (
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"
)

// version is the schema's that this program writes.
const version = 2

// migrations[n] makes version n+1 of version n. It sees the file as version n left
// it, in the transaction that all steps share.
var migrations = map[int]func(*bbolt.Tx) error{
	1: indexTombstones,
}

// The buckets, and the keys of the one that is about the file.
var (
	bucketHot        = []byte("hot")
	bucketCold       = []byte("cold")
	bucketTombstones = []byte("tombstones")
	bucketUntil      = []byte("until") // since version 2
	bucketMeta       = []byte("meta")
	bucketAbout      = []byte("about")

	keySchema = []byte("schema")
	keySite   = []byte("site")
)

// errForeign is a good bbolt file that no store has written.
var errForeign = errors.New("the file is not of a Drover server")

// buckets are those of one transaction.
type buckets struct {
	hot, cold, tombstones, until, meta, about *bbolt.Bucket
}

// in opens the buckets.
func in(tx *bbolt.Tx) (*buckets, error) {
	b := &buckets{}
	for _, one := range []struct {
		name []byte
		into **bbolt.Bucket
	}{
		{bucketHot, &b.hot},
		{bucketCold, &b.cold},
		{bucketTombstones, &b.tombstones},
		{bucketUntil, &b.until},
		{bucketMeta, &b.meta},
		{bucketAbout, &b.about},
	} {
		bucket := tx.Bucket(one.name)
		if bucket == nil {
			return nil, fmt.Errorf("bucket %s is missing", one.name)
		}
		bucket.FillPercent = fill
		*one.into = bucket
	}
	return b, nil
}

// found is what a file says about itself.
type found struct {
	schema int
	site   string
}

// lay puts the schema into an empty file.
func lay(tx *bbolt.Tx, site string) error {
	for _, name := range [][]byte{bucketHot, bucketCold, bucketTombstones, bucketUntil, bucketMeta, bucketAbout} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	if err := setAbout(tx, keySite, site); err != nil {
		return err
	}
	return setAbout(tx, keySchema, strconv.Itoa(version))
}

func setAbout(tx *bbolt.Tx, key []byte, value string) error {
	return tx.Bucket(bucketAbout).Put(key, seal(key, nil, []byte(value)))
}

// about reads what the file says about itself. Of a newer file it only trusts
// that this much is where it always was.
func about(tx *bbolt.Tx) (found, error) {
	bucket := tx.Bucket(bucketAbout)
	if bucket == nil {
		return found{}, errForeign
	}
	var values [2]string
	for i, key := range [][]byte{keySchema, keySite} {
		record := bucket.Get(key)
		if record == nil {
			return found{}, errForeign
		}
		value, err := unseal(key, record)
		if err != nil {
			return found{}, err
		}
		values[i] = string(value)
	}
	schema, err := strconv.Atoi(values[0])
	if err != nil || schema < 1 {
		return found{}, fmt.Errorf("schema version is %q", values[0])
	}
	return found{schema: schema, site: values[1]}, nil
}

// migrate takes the file from a version to ours.
func migrate(tx *bbolt.Tx, from int) error {
	for v := from; v < version; v++ {
		step, ok := migrations[v]
		if !ok {
			return fmt.Errorf("no migration from schema version %d", v)
		}
		if err := step(tx); err != nil {
			return fmt.Errorf("migrating from schema version %d: %w", v, err)
		}
	}
	return setAbout(tx, keySchema, strconv.Itoa(version))
}

// indexTombstones makes version 2: version 1 had to look at every tombstone to
// find those whose time was over.
func indexTombstones(tx *bbolt.Tx) error {
	tombstones := tx.Bucket(bucketTombstones)
	if tombstones == nil {
		return fmt.Errorf("bucket %s is missing", bucketTombstones)
	}
	index, err := tx.CreateBucket(bucketUntil)
	if err != nil {
		return err
	}
	return tombstones.ForEach(func(id, record []byte) error {
		_, until, err := unsealTombstone(id, record)
		if err != nil {
			return err
		}
		return index.Put(untilKey(until, id), nil)
	})
}
