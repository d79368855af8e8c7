package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// check reads a file's structure and says what is wrong with it. It uses nothing
// of bbolt, maps nothing and writes nothing, so that no file can make it crash.
//
// bbolt's own check maps the file and follows damaged pages as its transactions
// do, loops included. This one is most of what Open costs, 40 to 80 ms with
// 100,000 jobs (BenchmarkOpenAndLoad), and reads the pages that Load needs next.
func check(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	return checkStructure(file, info.Size())
}

func checkStructure(file io.ReaderAt, size int64) error {
	first, err := readHeader(file, 0, 0)
	if err != nil {
		return err
	}
	// bbolt goes on with one good header, the state of a commit earlier if it was
	// the newer that broke. A disk writes a header's one sector whole or not at
	// all, so a broken one is no crash during a commit, and what is missing then is
	// a commit that was acknowledged.
	second, err := readHeader(file, 1, first.pageSize)
	if err != nil {
		return err
	}
	if second.pageSize != first.pageSize {
		return errors.New("the headers disagree about the size of pages")
	}
	h := first
	if second.txnumber > first.txnumber {
		h = second
	}
	if have := uint64(size / h.pageSize); h.pages > have {
		return fmt.Errorf("the file is cut off: %d pages of %d", have, h.pages)
	}
	c := &checker{file: file, header: h, seen: make([]bool, h.pages)}
	if h.pages < 4 {
		return fmt.Errorf("a file of %d pages", h.pages)
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
	seen []bool // pages that are free or were come by

	leaf    []byte // the last leaf read, and its entries
	entries []entry
}

// freeList reads the list of free pages, which every commit of a store writes.
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
		return fmt.Errorf("%d pages do not fit", count)
	}
	for last := uint64(0); count > 0; count-- {
		free := order.Uint64(list)
		if free <= last {
			return fmt.Errorf("page %d is out of order", free)
		}
		if err := c.come(free, 1); err != nil {
			return err
		}
		last, list = free, list[8:]
	}
	return nil
}

// tree walks what is below a page: keys are at least low and less than high,
// where those are not nil.
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
		// It is still needed after what is below it was read.
		page = bytes.Clone(page)
		return c.inner(id, page, low, high)
	}
	if c.entries, err = entries(page, c.entries); err == nil {
		err = ordered(c.entries, low, high)
	}
	return at(id, err)
}

// inner walks a page with others below it: a branch, or a leaf with buckets.
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
		return at(id, errors.New("a branch without entries"))
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

// bucket walks a bucket, which may lie inline where it is small.
func (c *checker) bucket(value []byte) error {
	if len(value) < bucketSize {
		return errors.New("a bucket without a root")
	}
	if root := order.Uint64(value); root != 0 {
		return c.tree(root, nil, nil)
	}
	page := value[bucketSize:]
	if len(page) < pageHeader || order.Uint16(page[8:]) != flagLeaf || hasBuckets(page) {
		return errors.New("an inline bucket that is none")
	}
	is, err := entries(page, nil)
	if err != nil {
		return fmt.Errorf("inline bucket: %w", err)
	}
	return ordered(is, nil, nil)
}

// read returns a page and those that belong to it, in into's space if that is
// large enough.
func (c *checker) read(id uint64, into []byte) ([]byte, error) {
	if err := c.come(id, 1); err != nil {
		return nil, err
	}
	page := sized(into, c.pageSize)
	if _, err := c.file.ReadAt(page, int64(id)*c.pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	if found := order.Uint64(page); found != id {
		return nil, fmt.Errorf("page %d says that it is page %d", id, found)
	}
	more := uint64(order.Uint32(page[12:]))
	if more == 0 {
		return page, nil
	}
	if err := c.come(id+1, more); err != nil {
		return nil, err
	}
	page = sized(page, int64(more+1)*c.pageSize)
	if _, err := c.file.ReadAt(page, int64(id)*c.pageSize); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	return page, nil
}

// come marks pages that nothing else may come by.
func (c *checker) come(id, count uint64) error {
	if id >= c.pages || count > c.pages-id {
		return fmt.Errorf("page %d of %d", id, c.pages)
	}
	for i := id; i < id+count; i++ {
		if c.seen[i] {
			return fmt.Errorf("page %d is used twice", i)
		}
		c.seen[i] = true
	}
	return nil
}

// hasBuckets reports whether a leaf's first entry is a bucket: ours hold either
// buckets only or none. A page of no entries has none.
func hasBuckets(page []byte) bool {
	return order.Uint16(page[8:]) == flagLeaf && order.Uint16(page[10:]) > 0 &&
		len(page) >= pageHeader+entrySize && order.Uint32(page[pageHeader:]) == bucketEntry
}

// ordered says whether keys rise, from low and to below high. A leaf is of
// buckets or of records.
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
