package external

import "github.com/seed-9b8f70bb/drover/batch"

// changes lists attempts by their last change. An entry is stale once its attempt
// changed again.
type changes struct {
	list  []change
	stale int // number of stale entries
	seq   uint64
	lost  uint64     // highest change number that was forgotten
	ended []*attempt // oldest first
	more  chan struct{}
}

type change struct {
	seq uint64
	of  *attempt
}

func newChanges() changes { return changes{more: make(chan struct{})} }

// touch makes a the attempt that changed last, and wakes all watchers.
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

// retire adds an attempt that has ended. If that makes more than retain of them, it
// returns the oldest, to be forgotten.
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
			out.Jobs = append(out.Jobs, e.of.found())
		}
	}
	return out, nil
}
