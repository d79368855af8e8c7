package daemon

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// sequencer discards signals and shares that the network delivers after later ones.
type sequencer struct {
	mu    sync.Mutex
	watch uint64 // the newest; 0: none
	tasks map[node.ID]*applied
}

// applied is what was applied to a task last. Its mu is held while a call is applied.
type applied struct {
	mu             sync.Mutex
	signal, shares node.Sequence
}

// begin returns the number of a new watch. No daemon of this node has used it, unless
// the clock was set back.
func (q *sequencer) begin() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.watch = max(q.watch+1, uint64(time.Now().UnixNano()))
	return q.watch
}

// apply calls do, unless a call with a later sequence was applied to the task before.
// last selects the sequence of the calls of the same kind.
func (q *sequencer) apply(id node.ID, seq node.Sequence, last func(*applied) *node.Sequence, do func() error) error {
	if seq == (node.Sequence{}) {
		return do()
	}
	q.mu.Lock()
	if seq.Watch != q.watch {
		q.mu.Unlock()
		return node.ErrStale
	}
	a := q.tasks[id]
	if a == nil {
		a = &applied{}
		if q.tasks == nil {
			q.tasks = make(map[node.ID]*applied)
		}
		q.tasks[id] = a
	}
	q.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	if seq.Before(*last(a)) {
		return nil
	}
	*last(a) = seq
	err := do()
	if errors.Is(err, os.ErrProcessDone) {
		q.forget(id) // its end may have been reported before it was added here
	}
	return err
}

func lastSignal(a *applied) *node.Sequence { return &a.signal }

func lastShares(a *applied) *node.Sequence { return &a.shares }

// forget drops a task that has ended.
func (q *sequencer) forget(id node.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.tasks, id)
}
