package supervisor

import (
	"context"
	"errors"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

// mostNews is how many ends are kept for a watcher that does not take them.
const mostNews = 1 << 16

// errSlow ends the watch of one that has missed something.
var errSlow = errors.New("the watcher does not keep up")

// watchers are told of ends.
type watchers struct {
	mu  sync.Mutex
	all map[*watcher]struct{}
}

// watcher is one of them. The fields are guarded by the watchers' mu.
type watcher struct {
	wake  chan struct{} // holds one
	queue []attempt.End
	slow  bool
}

// add begins a watch: of all that is told from now on.
func (ws *watchers) add() *watcher {
	w := &watcher{wake: make(chan struct{}, 1)}
	ws.mu.Lock()
	defer ws.mu.Unlock()
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

func (ws *watchers) tell(n attempt.End) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		if len(w.queue) == mostNews {
			w.slow = true
		} else {
			w.queue = append(w.queue, n)
		}
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// next waits for news.
func (ws *watchers) next(ctx context.Context, w *watcher) ([]attempt.End, error) {
	for {
		ws.mu.Lock()
		got, slow := w.queue, w.slow
		w.queue = nil
		ws.mu.Unlock()
		switch {
		case slow:
			return nil, errSlow
		case len(got) > 0:
			return got, nil
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
