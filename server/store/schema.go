package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"go.etcd.io/bbolt"
)

// Version is the schema version of this program. It changes with the buckets and with every field of
// a record, because a program that does not know a field would lose it.
const Version = 3

// migrations[n] migrates a file from version n to n+1. All steps share one transaction.
var migrations = map[int]func(*bbolt.Tx) error{
	1: indexTombstones,
	2: keep, // records have more fields
}

// keep migrates to a version whose programs can read the records of the one before.
func keep(*bbolt.Tx) error { return nil }

// The buckets, and the keys of bucketAbout.
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

// errForeign reports a valid bbolt file that no store has written.
var errForeign = errors.New("not the file of a Drover server")

// buckets holds the buckets of one transaction.
type buckets struct {
	hot, cold, tombstones, until, meta, about *bbolt.Bucket
}

// in opens the buckets in a transaction.
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

// found is the content of bucketAbout.
type found struct {
	schema int
	site   string
}

// lay creates the buckets in an empty file.
func lay(tx *bbolt.Tx, site string) error {
	for _, name := range [][]byte{bucketHot, bucketCold, bucketTombstones, bucketUntil, bucketMeta, bucketAbout} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	if err := setAbout(tx, keySite, site); err != nil {
		return err
	}
	return setAbout(tx, keySchema, strconv.Itoa(Version))
}

func setAbout(tx *bbolt.Tx, key []byte, value string) error {
	return tx.Bucket(bucketAbout).Put(key, seal(key, nil, []byte(value)))
}

// about reads bucketAbout, which has the same format in all versions, newer ones
// included.
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

// migrate migrates the file from a version to the current one.
func migrate(tx *bbolt.Tx, from int) error {
	for v := from; v < Version; v++ {
		step, ok := migrations[v]
		if !ok {
			return fmt.Errorf("no migration from schema version %d", v)
		}
		if err := step(tx); err != nil {
			return fmt.Errorf("migrating from schema version %d: %w", v, err)
		}
	}
	return setAbout(tx, keySchema, strconv.Itoa(Version))
}

// indexTombstones migrates to version 2, which has an index of expiries. Version 1 scanned
// all tombstones to find the expired ones.
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

const (
	sumSize   = 4 // bytes of a checksum
	untilSize = 8 // bytes of an expiry
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errSum reports that a record or its key was changed after it was written.
var errSum = errors.New("wrong checksum")

// seal returns head and content as one record with a checksum. The checksum covers the
// key, so that a record under another key is detected.
func seal(key, head, content []byte) []byte {
	record := make([]byte, 0, len(head)+len(content)+sumSize)
	record = append(record, head...)
	record = append(record, content...)
	return binary.BigEndian.AppendUint32(record, sum(key, record))
}

// unseal checks a record and returns its head and content, which share its memory.
func unseal(key, record []byte) ([]byte, error) {
	n := len(record) - sumSize
	if n < 0 || binary.BigEndian.Uint32(record[n:]) != sum(key, record[:n]) {
		return nil, fmt.Errorf("record %q: %w", key, errSum)
	}
	return record[:n:n], nil
}

func sum(key, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, content)
}

// sealTombstone returns the record of a tombstone: its expiry and its content.
func sealTombstone(id string, content []byte, until int64) []byte {
	return seal([]byte(id), appendUntil(nil, until), content)
}

func unsealTombstone(id, record []byte) (content []byte, until int64, err error) {
	record, err = unseal(id, record)
	if err != nil {
		return nil, 0, err
	}
	if len(record) < untilSize {
		return nil, 0, fmt.Errorf("tombstone %q has %d bytes", id, len(record))
	}
	return record[untilSize:], untilOf(record), nil
}

// appendUntil appends an expiry so that bytes sort like instants, also before 1970.
func appendUntil(b []byte, until int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(until)^1<<63)
}

func untilOf(b []byte) int64 {
	return int64(binary.BigEndian.Uint64(b) ^ 1<<63)
}

// untilKey returns the index key of a tombstone.
func untilKey(until int64, id []byte) []byte {
	return append(appendUntil(make([]byte, 0, untilSize+len(id)), until), id...)
}
