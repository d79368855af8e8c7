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

// inOrder does the same with each item, so many at a time, and tells of what came of them
// in their order, from the caller's goroutine. No further one is begun after ctx has
// ended, or after do has said to stop; what is begun is always told. It returns how many
// were begun, which are the first ones.
func inOrder[T, R any](ctx context.Context, workers int, items []T, do func(T) (r R, stop bool), tell func(i int, r R)) (begun int) {
	type result struct {
		i int
		r R
	}
	var (
		mu      sync.Mutex
		next    int
		stopped bool
		group   sync.WaitGroup
		results = make(chan result)
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == len(items) || stopped || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(workers, len(items)) {
		group.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				r, stop := do(items[i])
				if stop {
					mu.Lock()
					stopped = true
					mu.Unlock()
				}
				results <- result{i, r}
			}
		})
	}
	go func() { group.Wait(); close(results) }()
	early := make(map[int]R) // that came before one in front of it
	for told := 0; ; {
		r, ok := <-results
		if !ok {
			return next
		}
		for early[r.i] = r.r; ; told++ {
			answer, ok := early[told]
			if !ok {
				break
			}
			delete(early, told)
			tell(told, answer)
		}
	}
}
