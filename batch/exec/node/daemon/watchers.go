package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

const (
	// mostEnds bounds the queue of a watcher that does not take its ends.
	mostEnds = 1 << 14
	// shortestInterval bounds the interval between measurements.
	shortestInterval = 10 * time.Millisecond
)

// watchers receive the ends of tasks.
type watchers struct {
	mu      sync.Mutex
	all     map[*watcher]struct{}
	stopped bool
}

// watcher is a rpc.Watch.
type watcher struct {
	of      *watchers
	number  uint64
	measure func() []node.Measurement
	ticker  *time.Ticker // nil: no measurements
	wake    chan struct{}

	// Guarded by the watchers' mu.
	queue []node.Update
	err   error
}

// add begins a watch that measures every interval, or never if that is 0.
func (ws *watchers) add(interval time.Duration, measure func() []node.Measurement) *watcher {
	w := &watcher{of: ws, measure: measure, wake: make(chan struct{}, 1)}
	if interval > 0 {
		w.ticker = time.NewTicker(max(interval, shortestInterval))
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.stopped {
		w.fail(node.ErrStopping)
		return w
	}
	if ws.all == nil {
		ws.all = make(map[*watcher]struct{})
	}
	ws.all[w] = struct{}{}
	return w
}

// notify queues an end for all watchers.
func (ws *watchers) notify(end node.Update) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		if len(w.queue) == mostEnds {
			w.fail(node.ErrSlow)
			continue
		}
		w.queue = append(w.queue, end)
		w.signal()
	}
}

// close ends all watches.
func (ws *watchers) close() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.stopped = true
	for w := range ws.all {
		w.fail(node.ErrStopping)
	}
}

// Number is rpc.Watch.Number.
func (w *watcher) Number() uint64 { return w.number }

// Next is rpc.Watch.Next.
func (w *watcher) Next(ctx context.Context) ([]node.Update, error) {
	var tick <-chan time.Time
	if w.ticker != nil {
		tick = w.ticker.C
	}
	var all []node.Update
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-tick:
		all = append(all, node.Update{Use: w.measure()})
	case <-w.wake:
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	all = append(all, w.queue...)
	w.queue = nil
	return all, w.err
}

// Close ends the watch.
func (w *watcher) Close() {
	if w.ticker != nil {
		w.ticker.Stop()
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	delete(w.of.all, w)
}

func (w *watcher) fail(err error) {
	w.err = err
	w.signal()
}

func (w *watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
