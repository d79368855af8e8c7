package exec

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
)

// changes keeps the attempts in the order of their last change, so that what
// changed after a cursor is a tail of the list. Its memory is one link for each
// attempt, however often it changes.
type changes struct {
	head, tail *attempt
	seq        uint64        // of the last change
	lost       uint64        // highest number of a change that was forgotten
	ring       []*attempt    // the ended ones, to forget the oldest
	oldest     int           // its place in ring, once ring is full
	told       uint64        // the last change that was announced
	more       chan struct{} // closed at the next change
}

func newChanges() changes { return changes{more: make(chan struct{})} }

// touch makes a the attempt that changed last.
func (c *changes) touch(a *attempt) {
	c.unlink(a)
	c.seq++
	a.seq = c.seq
	a.prev = c.tail
	if c.tail == nil {
		c.head = a
	} else {
		c.tail.next = a
	}
	c.tail = a
}

func (c *changes) unlink(a *attempt) {
	if a.seq == 0 {
		return
	}
	if a.prev == nil {
		c.head = a.next
	} else {
		a.prev.next = a.next
	}
	if a.next == nil {
		c.tail = a.prev
	} else {
		a.next.prev = a.prev
	}
	a.prev, a.next = nil, nil
}

// retire files a, which has ended and will not change any more. With more than
// retain of them it takes the oldest out of the list and returns it.
func (c *changes) retire(a *attempt, retain int) *attempt {
	if len(c.ring) < retain {
		c.ring = append(c.ring, a)
		return nil
	}
	old := c.ring[c.oldest]
	c.ring[c.oldest] = a
	c.oldest = (c.oldest + 1) % retain
	c.unlink(old)
	c.lost = max(c.lost, old.seq)
	return old
}

// announce wakes the watchers if something has changed since the last time.
func (c *changes) announce() {
	if c.seq > c.told {
		c.told = c.seq
		close(c.more)
		c.more = make(chan struct{})
	}
}

// since returns what changed after the cursor, oldest change first, as found says.
func (c *changes) since(after batch.Cursor, found func(*attempt) batch.Found) (batch.Changes, error) {
	if uint64(after) > c.seq || after != 0 && uint64(after) < c.lost {
		return batch.Changes{}, &CursorError{After: after, Oldest: batch.Cursor(c.lost), Newest: batch.Cursor(c.seq)}
	}
	out := batch.Changes{Next: batch.Cursor(c.seq)}
	for a := c.tail; a != nil && a.seq > uint64(after); a = a.prev {
		out.Jobs = append(out.Jobs, found(a))
	}
	slices.Reverse(out.Jobs)
	return out, nil
}
