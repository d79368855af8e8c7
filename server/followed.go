package server

import (
	"sync"

	"github.com/seed-9b8f70bb/drover/batch"
)

// followed are the attempts that the batch system launches, or follows.
type followed struct {
	mu   sync.Mutex
	keys map[batch.Key]bool
}

func (f *followed) add(key batch.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = make(map[batch.Key]bool)
	}
	f.keys[key] = true
}

func (f *followed) remove(key batch.Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, key)
}

func (f *followed) has(key batch.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keys[key]
}
