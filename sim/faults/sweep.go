package faults

import (
	"context"
	"runtime"
)

// chunk is how many seeds a worker takes at once.
const chunk = 32

// Sweep runs n seeds from one on, on all cores, and gives the results to each in
// the order of the seeds, until it returns false or ctx ends.
func Sweep(ctx context.Context, from uint64, n int, plant Plant, each func(*Result) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type work struct {
		from uint64
		out  chan []Result
	}
	workers := runtime.GOMAXPROCS(0)
	todo := make(chan work)
	order := make(chan work, 2*workers)
	for range workers {
		go func() {
			for w := range todo {
				results := make([]Result, 0, chunk)
				for seed := w.from; seed < min(w.from+chunk, from+uint64(n)) && ctx.Err() == nil; seed++ {
					results = append(results, Run(seed, plant))
				}
				w.out <- results
			}
		}()
	}
	go func() {
		defer close(order)
		defer close(todo)
		for seed := from; seed < from+uint64(n); seed += chunk {
			w := work{seed, make(chan []Result, 1)}
			select {
			case order <- w:
			case <-ctx.Done():
				return
			}
			select {
			case todo <- w:
			case <-ctx.Done():
				w.out <- nil
				return
			}
		}
	}()
	stopped := false
	for w := range order { // to its end, so that nothing of it is left behind
		results := <-w.out
		for i := range results {
			if stopped {
				break
			}
			if !each(&results[i]) {
				stopped = true
				cancel()
			}
		}
	}
	if stopped {
		return nil
	}
	return ctx.Err()
}
