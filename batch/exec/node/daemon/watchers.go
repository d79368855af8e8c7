package daemon

import (
	"errors"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// mostEnds is how many ends are kept for a watcher that does not take them.
const mostEnds = 1 << 14

// What a watch ends with.
var (
	errSlow     = errors.New("the watcher does not keep up")
	errStopping = errors.New("the daemon ends")
)

// end is the end of a task.
type end struct {
	id     node.ID
	status attempt.Status
}

// watchers are told of ends.
type watchers struct {
	mu      sync.Mutex
	all     map[*watcher]struct{}
	stopped bool
}

// watcher is one of them. Its fields are guarded by the watchers' mu.
type watcher struct {
	wake  chan struct{} // holds one
	queue []end
	err   error
}

func (ws *watchers) add() *watcher {
	w := &watcher{wake: make(chan struct{}, 1)}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.stopped {
		w.fail(errStopping)
		return w
	}
	if ws.all == nil {
		ws.all = make(map[*watcher]struct{})
	}
	ws.all[w] = struct{}{}
	return w
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.all, w)
}

func (ws *watchers) tell(id node.ID, st attempt.Status) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		if len(w.queue) == mostEnds {
			w.fail(errSlow)
			continue
		}
		w.queue = append(w.queue, end{id, st})
		w.notify()
	}
}

// close ends all watches.
func (ws *watchers) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.stopped = true
	for w := range ws.all {
		w.fail(errStopping)
	}
}

// take returns what has come since.
func (ws *watchers) take(w *watcher) ([]end, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	got := w.queue
	w.queue = nil
	return got, w.err
}

func (w *watcher) fail(err error) {
	w.err = err
	w.notify()
}

func (w *watcher) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
