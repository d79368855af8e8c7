package main

import (
	"fmt"
	"slices"
)

// teleprinter tells of many requests in the order in which they were written, whatever
// the order in which they were submitted.
type teleprinter struct {
	order []int // of submission
	say   func(i int, p placed)
	next  int // to be told of
	early map[int]placed
}

func newTeleprinter(order []int, say func(i int, p placed)) *teleprinter {
	return &teleprinter{order: order, say: say, early: make(map[int]placed)}
}

// tell takes what came of the kth that was submitted.
func (t *teleprinter) tell(k int, p placed) {
	t.early[t.order[k]] = p
	for {
		p, ok := t.early[t.next]
		if !ok {
			return
		}
		delete(t.early, t.next)
		t.say(t.next, p)
		t.next++
	}
}

// rest tells of those behind one that was never begun.
func (t *teleprinter) rest() {
	for i := t.next; len(t.early) > 0; i++ {
		if p, ok := t.early[i]; ok {
			delete(t.early, i)
			t.say(i, p)
		}
	}
}

// notBegun says which requests were not begun: all but the first so many of an order.
func notBegun(wishes []wish, order []int, begun int) string {
	first := slices.Min(order[begun:])
	if first == begun { // then it is all those behind it
		return fmt.Sprintf("none from %s on", wishes[first].name())
	}
	return fmt.Sprintf("%d were not, the first of them %s", len(order)-begun, wishes[first].name())
}
