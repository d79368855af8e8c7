package slurm

import (
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
)

// changes keeps attempts in the order of their last change. A place in the list
// counts only as long as its attempt has not changed again.
type changes struct {
	list  []change
	stale int // places that count no more
	seq   uint64
	lost  uint64     // highest number of a change that was forgotten
	ended []*attempt // oldest first
	more  chan struct{}
}

type change struct {
	seq uint64
	of  *attempt
}

func newChanges() changes { return changes{more: make(chan struct{})} }

// touch makes a the attempt that changed last, and wakes who watches.
func (c *changes) touch(a *attempt) {
	if a.seq > 0 {
		c.stale++
	}
	c.seq++
	a.seq = c.seq
	c.list = append(c.list, change{c.seq, a})
	if c.stale > 64 && c.stale > len(c.list)/2 {
		kept := c.list[:0]
		for _, e := range c.list {
			if e.of.seq == e.seq {
				kept = append(kept, e)
			}
		}
		clear(c.list[len(kept):])
		c.list, c.stale = kept, 0
	}
	close(c.more)
	c.more = make(chan struct{})
}

// retire files an attempt that has ended and returns one that is forgotten for it.
func (c *changes) retire(a *attempt, retain int) *attempt {
	c.ended = append(c.ended, a)
	if len(c.ended) <= retain {
		return nil
	}
	old := c.ended[0]
	c.ended[0] = nil
	c.ended = c.ended[1:]
	c.lost = max(c.lost, old.seq)
	old.seq = 0
	c.stale++
	return old
}

// after returns what changed after a cursor, oldest change first.
func (c *changes) after(cursor batch.Cursor) (batch.Changes, error) {
	if uint64(cursor) > c.seq || cursor != 0 && uint64(cursor) < c.lost {
		return batch.Changes{}, &CursorError{After: cursor, Oldest: batch.Cursor(c.lost), Newest: batch.Cursor(c.seq)}
	}
	out := batch.Changes{Next: batch.Cursor(c.seq)}
	from := len(c.list)
	for from > 0 && c.list[from-1].seq > uint64(cursor) {
		from--
	}
	for _, e := range c.list[from:] {
		if e.of.seq == e.seq {
			out.Jobs = append(out.Jobs, e.of.told())
		}
	}
	return out, nil
}

// CursorError is a cursor that Watch cannot go on from: of another life of the
// system, or so old that ends after it have been forgotten.
type CursorError struct {
	After  batch.Cursor
	Oldest batch.Cursor // accepted, besides 0: Oldest..Newest
	Newest batch.Cursor
}

// Error names the cursor and the accepted range.
func (e *CursorError) Error() string {
	return fmt.Sprintf("cursor: %d, accepted: 0 or %d..%d", e.After, e.Oldest, e.Newest)
}
