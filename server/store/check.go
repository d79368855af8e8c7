package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// check reads a file's structure and returns the first error in it. It does not use
// bbolt, map the file or write to it, so no file can make it crash.
//
// bbolt's own check maps the file and follows damaged pages as its transactions do, even
// in loops. This check takes most of the time of Open, 40 to 80 ms with 100,000 jobs
// (BenchmarkOpenAndLoad), and reads the pages that Load needs next.
func check(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	return checkStructure(file, info.Size())
}

func checkStructure(file io.ReaderAt, size int64) error {
	first, err := readHeader(file, 0, 0)
	if err != nil {
		return err
	}
	// bbolt accepts a file with one valid header. If the newer one is broken, the file
	// is in the state of the previous commit. A disk writes a sector, and so a header,
	// entirely or not at all. A broken header is therefore not a crash during a commit,
	// and the lost commit was acknowledged.
	second, err := readHeader(file, 1, first.pageSize)
	if err != nil {
		return err
	}
	if second.pageSize != first.pageSize {
		return errors.New("the headers have different page sizes")
	}
	h := first
	if second.txnumber > first.txnumber {
		h = second
	}
	if have := uint64(size / h.pageSize); h.pages > have {
		return fmt.Errorf("the file is truncated: %d of %d pages", have, h.pages)
	}
	c := &checker{file: file, header: h, seen: make([]bool, h.pages)}
	if h.pages < 4 {
		return fmt.Errorf("the file has only %d pages", h.pages)
	}
	c.seen[0], c.seen[1] = true, true
	if err := c.freeList(h.free); err != nil {
		return fmt.Errorf("list of free pages: %w", err)
	}
	return c.tree(h.root, nil, nil)
}

// checker walks the pages of a file.
type checker struct {
	file io.ReaderAt
	header
	seen []bool // pages that are free or were visited

	leaf    []byte // the last leaf read and its entries
	entries []entry
}

// freeList reads the list of free pages, which every commit writes.
func (c *checker) freeList(id uint64) error {
	page, err := c.read(id, nil)
	if err != nil {
		return err
	}
	if flags := order.Uint16(page[8:]); flags != flagFree {
		return fmt.Errorf("page %d is marked %x", id, flags)
	}
	list, count := page[pageHeader:], uint64(order.Uint16(page[10:]))
	if count == 0xFFFF {
		count, list = order.Uint64(list), list[8:]
	}
	if count > uint64(len(list)/8) {
		return fmt.Errorf("a list of %d pages does not fit in its page", count)
	}
	for last := uint64(0); count > 0; count-- {
		free := order.Uint64(list)
		if free <= last {
			return fmt.Errorf("page %d is out of order", free)
		}
		if err := c.visit(free, 1); err != nil {
			return err
		}
		last, list = free, list[8:]
	}
	return nil
}

// tree walks the tree below a page. Its keys must be at least low and less than high; nil
// means no bound.
func (c *checker) tree(id uint64, low, high []byte) error {
	page, err := c.read(id, c.leaf)
	if err != nil {
		return err
	}
	if cap(page) > cap(c.leaf) {
		c.leaf = page
	}
	flags := order.Uint16(page[8:])
	if flags != flagBranch && flags != flagLeaf {
		return fmt.Errorf("page %d is marked %x", id, flags)
	}
	if flags == flagBranch || hasBuckets(page) {
		// Reading the pages below overwrites c.leaf.
		page = bytes.Clone(page)
		return c.inner(id, page, low, high)
	}
	if c.entries, err = entries(page, c.entries); err == nil {
		err = ordered(c.entries, low, high)
	}
	return at(id, err)
}

// inner walks a page with pages below it: a branch, or a leaf of buckets.
func (c *checker) inner(id uint64, page, low, high []byte) error {
	is, err := entries(page, nil)
	if err == nil {
		err = ordered(is, low, high)
	}
	if err != nil {
		return at(id, err)
	}
	branch := order.Uint16(page[8:]) == flagBranch
	if branch && len(is) == 0 {
		return at(id, errors.New("branch without entries"))
	}
	for i, e := range is {
		var err error
		switch {
		case branch && i+1 < len(is):
			err = c.tree(e.child, e.key, is[i+1].key)
		case branch:
			err = c.tree(e.child, e.key, high)
		case e.bucket:
			err = at(id, c.bucket(e.value))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket walks a bucket. A small bucket lies inline in its value.
func (c *checker) bucket(value []byte) error {
	if len(value) < bucketSize {
		return errors.New("bucket without a root")
	}
	if root := order.Uint64(value); root != 0 {
		return c.tree(root, nil, nil)
	}
	page := value[bucketSize:]
	if len(page) < pageHeader || order.Uint16(page[8:]) != flagLeaf || hasBuckets(page) {
		return errors.New("invalid inline bucket")
	}
	is, err := entries(page, nil)
	if err != nil {
		return fmt.Errorf("inline bucket: %w", err)
	}
	return ordered(is, nil, nil)
}

// read returns a page with its overflow pages. It reuses the space of into if that is
// large enough.
func (c *checker) read(id uint64, into []byte) ([]byte, error) {
	if err := c.visit(id, 1); err != nil {
		return nil, err
	}
	page := sized(into, c.pageSize)
	if _, err := c.file.ReadAt(page, int64(id)*c.pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	if found := order.Uint64(page); found != id {
		return nil, fmt.Errorf("page %d is marked as page %d", id, found)
	}
	more := uint64(order.Uint32(page[12:]))
	if more == 0 {
		return page, nil
	}
	if err := c.visit(id+1, more); err != nil {
		return nil, err
	}
	page = sized(page, int64(more+1)*c.pageSize)
	if _, err := c.file.ReadAt(page, int64(id)*c.pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	return page, nil
}

// visit marks pages as used and refuses pages that were used before.
func (c *checker) visit(id, count uint64) error {
	if id >= c.pages || count > c.pages-id {
		return fmt.Errorf("page %d is beyond the last of %d pages", id, c.pages)
	}
	for i := id; i < id+count; i++ {
		if c.seen[i] {
			return fmt.Errorf("page %d is used twice", i)
		}
		c.seen[i] = true
	}
	return nil
}

// hasBuckets reports whether a page is a leaf with a bucket as its first entry. The leaves
// of a store hold either only buckets or only records.
func hasBuckets(page []byte) bool {
	return order.Uint16(page[8:]) == flagLeaf && order.Uint16(page[10:]) > 0 &&
		len(page) >= pageHeader+entrySize && order.Uint32(page[pageHeader:]) == bucketEntry
}

// ordered returns an error unless keys increase, from low to below high, and a leaf holds
// only buckets or only records.
func ordered(is []entry, low, high []byte) error {
	for i, e := range is {
		switch {
		case i > 0 && bytes.Compare(e.key, is[i-1].key) <= 0,
			i == 0 && bytes.Compare(e.key, low) < 0,
			high != nil && bytes.Compare(e.key, high) >= 0:
			return fmt.Errorf("key %x is out of order", e.key)
		case e.bucket != is[0].bucket:
			return errors.New("records among buckets")
		}
	}
	return nil
}

func sized(b []byte, n int64) []byte {
	if int64(cap(b)) >= n {
		return b[:n]
	}
	return make([]byte, n)
}

func at(id uint64, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("page %d: %w", id, err)
}

// The layout of bbolt's pages. Numbers are in native byte order.
//
//	page    id 8 │ flags 2 │ count 2 │ overflow 4 │ ...
//	header  magic 4 │ version 4 │ page size 4 │ flags 4 │ root 8 │ sequence 8 │
//	        free list 8 │ pages 8 │ transaction 8 │ checksum 8
//	branch  count × (position 4 │ key size 4 │ child 8), then the keys
//	leaf    count × (flags 4 │ position 4 │ key size 4 │ value size 4), then keys
//	        and values; the value of a bucket is root 8 │ sequence 8 │ inline page
//	free    count × id 8; with a count of 0xFFFF the first is the count
//
// Positions are relative to the entry, and contents lie without gaps.
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

// header is one of the two meta pages, which locate everything else.
type header struct {
	pageSize                    int64
	root, free, pages, txnumber uint64
}

// readHeader reads the header in page id of a file with pages of size bytes.
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
		return header{}, fmt.Errorf("header %d: not a bbolt file", id)
	case order.Uint32(b[4:]) != fileFormat:
		return header{}, fmt.Errorf("header %d: file format %d, not %d", id, order.Uint32(b[4:]), fileFormat)
	case sum.Sum64() != order.Uint64(b[56:]):
		return header{}, fmt.Errorf("header %d: %w", id, errSum)
	case order.Uint64(page) != uint64(id) || order.Uint16(page[8:]) != flagHeader:
		return header{}, fmt.Errorf("header %d: the page is not marked as a header", id)
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

// entry is an entry of a branch or a leaf.
type entry struct {
	key, value []byte // value: in leaves
	child      uint64 // in branches
	bucket     bool
}

// entries reads the entries of a branch or leaf page into the space of is. It reads only
// within the page and allows no gaps: otherwise a count with a flipped bit would lose
// records silently.
func entries(page []byte, is []entry) ([]entry, error) {
	is = is[:0]
	flags, count := order.Uint16(page[8:]), int(order.Uint16(page[10:]))
	next := pageHeader + count*entrySize
	for i := range count {
		at := pageHeader + i*entrySize
		if at+entrySize > len(page) {
			return nil, fmt.Errorf("%d entries do not fit in the page", count)
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
			return nil, fmt.Errorf("entry %d is misplaced", i)
		}
		e.key, e.value = page[next:next+int(keySize)], page[next+int(keySize):end]
		is = append(is, e)
		next = end
	}
	return is, nil
}
