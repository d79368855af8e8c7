package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	sumSize   = 4 // bytes of a checksum
	untilSize = 8 // bytes of an instant
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errSum says that a record or its key is not what was written.
var errSum = errors.New("checksum does not fit")

// seal returns head and content as one record with its checksum. The key is
// summed too, so that a record under another key does not pass for one of its.
func seal(key, head, content []byte) []byte {
	record := make([]byte, 0, len(head)+len(content)+sumSize)
	record = append(record, head...)
	record = append(record, content...)
	return binary.BigEndian.AppendUint32(record, sum(key, record))
}

// unseal returns what was sealed. It is part of record.
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

// A tombstone is the instant until which it is kept, and what is left of the job.
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

// appendUntil appends an instant such that bytes sort as instants do: those
// before 1970 are negative.
func appendUntil(b []byte, until int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(until)^1<<63)
}

func untilOf(b []byte) int64 {
	return int64(binary.BigEndian.Uint64(b) ^ 1<<63)
}

// untilKey is where the index keeps a tombstone.
func untilKey(until int64, id []byte) []byte {
	return append(appendUntil(make([]byte, 0, untilSize+len(id)), until), id...)
}
