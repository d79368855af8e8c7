package server

import (
	"context"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch"
)

// turns lets one call at a time be about a job. Others wait.
type turns struct {
	mu    sync.Mutex
	taken map[batch.JobID]chan struct{} // closed when the turn ends
}

// take waits for the caller's turn, which lasts until done is called.
func (t *turns) take(ctx context.Context, id batch.JobID) (done func(), err error) {
	for {
		before := t.begin(id)
		if before == nil {
			return func() { t.end(id) }, nil
		}
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin takes a turn, or returns the one that has to end before.
func (t *turns) begin(id batch.JobID) (before chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before := t.taken[id]; before != nil {
		return before
	}
	if t.taken == nil {
		t.taken = make(map[batch.JobID]chan struct{})
	}
	t.taken[id] = make(chan struct{})
	return nil
}

func (t *turns) end(id batch.JobID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.taken[id])
	delete(t.taken, id)
}
