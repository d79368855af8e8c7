package supervisor

import (
	"context"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// mostEnds bounds the queue of a watcher that does not take its ends.
const mostEnds = 1 << 16

// watchers receive the ends of attempts.
type watchers struct {
	mu  sync.Mutex
	all map[*watcher]struct{}
}

// watcher is a rpc.Watch. Its queue and slow are guarded by the watchers' mu.
type watcher struct {
	of    *watchers
	wake  chan struct{} // holds one
	queue []attempt.End
	slow  bool
}

// add begins a watch.
func (ws *watchers) add() *watcher {
	w := &watcher{of: ws, wake: make(chan struct{}, 1)}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.all == nil {
		ws.all = make(map[*watcher]struct{})
	}
	ws.all[w] = struct{}{}
	return w
}

// notify queues an end for all watchers.
func (ws *watchers) notify(e attempt.End) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		if len(w.queue) == mostEnds {
			w.slow = true
		} else {
			w.queue = append(w.queue, e)
		}
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// Close ends the watch.
func (w *watcher) Close() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	delete(w.of.all, w)
}

// Next waits for ends. It returns rpc.ErrSlow once the queue has overflowed.
func (w *watcher) Next(ctx context.Context) ([]attempt.End, error) {
	for {
		w.of.mu.Lock()
		got, slow := w.queue, w.slow
		w.queue = nil
		w.of.mu.Unlock()
		switch {
		case slow:
			return nil, rpc.ErrSlow
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
