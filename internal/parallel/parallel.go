package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// Map calls do for each item, at most workers at a time (0: one for each core), and
// returns the results in the order of the items. After an error, and when ctx ends, it
// starts no further item; the error joins those of all items. done is called after each
// item with the number finished so far, by one goroutine at a time.
func Map[T, R any](ctx context.Context, workers int, items []T, do func(T) (R, error), done func(n int)) ([]R, error) {
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

// InOrder calls do for each item, at most workers at a time, and report for each result
// in the order of the items, from the caller's goroutine. It starts no further item after
// ctx ends or after do returns stop; report gets the result of each started item. It
// returns how many items were started, which are the first ones.
func InOrder[T, R any](
	ctx context.Context, workers int, items []T, do func(T) (r R, stop bool), report func(i int, r R),
) (started int) {
	type result struct {
		i int
		r R
	}
	var (
		mu      sync.Mutex
		stopped bool
		group   sync.WaitGroup
		results = make(chan result)
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if started == len(items) || stopped || ctx.Err() != nil {
			return 0, false
		}
		started++
		return started - 1, true
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
	early := make(map[int]R) // results of items behind the next one
	for next := 0; ; {
		r, ok := <-results
		if !ok {
			return started
		}
		for early[r.i] = r.r; ; next++ {
			answer, ok := early[next]
			if !ok {
				break
			}
			delete(early, next)
			report(next, answer)
		}
	}
}
