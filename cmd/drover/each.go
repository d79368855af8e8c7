package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// eachOf does the same with each item, so many at a time (0: one for each core), and
// returns what came of them in their order. After an error no further one is begun.
// done hears how many are done, from one goroutine at a time.
func eachOf[T, R any](ctx context.Context, workers int, items []T, do func(T) (R, error), done func(n int)) ([]R, error) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	results, errs := make([]R, len(items)), make([]error, len(items))
	var (
		mu             sync.Mutex
		next, finished int
		failed         bool
		group          sync.WaitGroup
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		i := next
		next++
		return i, i < len(items) && !failed && ctx.Err() == nil
	}
	for range workers {
		group.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				r, err := do(items[i])
				mu.Lock()
				results[i], errs[i], failed = r, err, failed || err != nil
				finished++
				done(finished)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return results, errors.Join(append(errs, ctx.Err())...)
}
