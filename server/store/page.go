package store

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of bbolt's pages. Numbers are in the byte order of the machine.
//
//	page    id 8 │ flags 2 │ count 2 │ overflow 4 │ ...
//	header  magic 4 │ version 4 │ page size 4 │ flags 4 │ root 8 │ sequence 8 │
//	        free list 8 │ pages 8 │ transaction 8 │ checksum 8
//	branch  count × (position 4 │ key size 4 │ child 8), then the keys
//	leaf    count × (flags 4 │ position 4 │ key size 4 │ value size 4), then keys
//	        and values; the value of a bucket is root 8 │ sequence 8 │ inline page
//	free    count × id 8; with a count of 0xFFFF the first is the count
//
// Positions are from the entry itself, and contents lie without gaps.
const (
	pageHeader  = 16
	entrySize   = 16
	bucketSize  = 16
	headerSize  = 64
	headerMagic = 0xED0CDAED
	fileFormat  = 2

	flagBranch, flagLeaf, flagHeader, flagFree = 0x01, 0x02, 0x04, 0x10
	bucketEntry                                = 0x01

	smallestPage, largestPage = 1 << 10, 1 << 16
)

var order = binary.NativeEndian

// header is one of the two pages that say where everything is.
type header struct {
	pageSize                    int64
	root, free, pages, txnumber uint64
}

// readHeader reads the header that is page id of a file.
func readHeader(file io.ReaderAt, id, size int64) (header, error) {
	page := make([]byte, pageHeader+headerSize)
	if _, err := file.ReadAt(page, id*size); err != nil {
		return header{}, fmt.Errorf("header %d: %w", id, err)
	}
	b := page[pageHeader:]
	sum := fnv.New64a()
	_, _ = sum.Write(b[:headerSize-8]) // never fails
	switch {
	case order.Uint32(b) != headerMagic:
		return header{}, fmt.Errorf("header %d: no bbolt file begins like this", id)
	case order.Uint32(b[4:]) != fileFormat:
		return header{}, fmt.Errorf("header %d: file format %d, not %d", id, order.Uint32(b[4:]), fileFormat)
	case sum.Sum64() != order.Uint64(b[56:]):
		return header{}, fmt.Errorf("header %d: %w", id, errSum)
	case order.Uint64(page) != uint64(id) || order.Uint16(page[8:]) != flagHeader:
		return header{}, fmt.Errorf("header %d: it is marked as something else", id)
	}
	h := header{
		pageSize: int64(order.Uint32(b[8:])),
		root:     order.Uint64(b[16:]),
		free:     order.Uint64(b[32:]),
		pages:    order.Uint64(b[40:]),
		txnumber: order.Uint64(b[48:]),
	}
	if h.pageSize < smallestPage || h.pageSize > largestPage || h.pageSize&(h.pageSize-1) != 0 {
		return header{}, fmt.Errorf("header %d: pages of %d bytes", id, h.pageSize)
	}
	return h, nil
}

// entry is one of a branch or a leaf.
type entry struct {
	key, value []byte // the value of a leaf's
	child      uint64 // of a branch's
	bucket     bool
}

// entries reads those of a branch or leaf page, into is's space. Only what lies
// within the page is read, and gaps are not allowed: a count that lost a bit
// would otherwise lose records without a trace.
func entries(page []byte, is []entry) ([]entry, error) {
	is = is[:0]
	flags, count := order.Uint16(page[8:]), int(order.Uint16(page[10:]))
	next := pageHeader + count*entrySize
	for i := range count {
		at := pageHeader + i*entrySize
		if at+entrySize > len(page) {
			return nil, fmt.Errorf("%d entries do not fit", count)
		}
		var e entry
		var position, keySize, valueSize uint32
		b := page[at:]
		switch flags {
		case flagBranch:
			position, keySize, e.child = order.Uint32(b), order.Uint32(b[4:]), order.Uint64(b[8:])
		case flagLeaf:
			position, keySize, valueSize = order.Uint32(b[4:]), order.Uint32(b[8:]), order.Uint32(b[12:])
			e.bucket = order.Uint32(b) == bucketEntry
			if f := order.Uint32(b); f > bucketEntry {
				return nil, fmt.Errorf("entry %d has flags %x", i, f)
			}
		}
		end := next + int(keySize) + int(valueSize)
		if at+int(position) != next || keySize == 0 || end > len(page) {
			return nil, fmt.Errorf("entry %d is not where it should be", i)
		}
		e.key, e.value = page[next:next+int(keySize)], page[next+int(keySize):end]
		is = append(is, e)
		next = end
	}
	return is, nil
}
