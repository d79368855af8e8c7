package bound

import "github.com/seed-9b8f70bb/drover/batch"

// Job is what the bound has to know of a job.
type Job struct {
	Release batch.Time
	// Length is how long it runs when all its tasks get what they need.
	Length batch.Duration
	// Rate is what it takes up then, its tasks times their need, in the unit in
	// which the capacity is given.
	Rate int64
}

// Bound is where the smallest possible maximum stretch lies. Both ends are
// whole multiples of 2^-20, which a float64 holds exactly.
type Bound struct {
	// Low is the bound: no schedule whatsoever has a smaller maximum stretch.
	Low float64
	// High is reached, to a microsecond, by a schedule that shares processors
	// and ignores memory. It is at most 2^-20 of itself above Low, or 2^-20.
	High float64
}

// MaxStretch bounds the maximum stretch of jobs on a machine of that capacity.
// A job's stretch is the time from its release to its end over its length, or
// over threshold where that is longer, and at least 1. A job of length 0 takes
// part in nothing and has the stretch 1; without jobs the bound is 1.
//
// The error is a [*JobError] when a job is at fault, among others one that is
// wider than the machine, and a [*RangeError] when all of them together are.
func MaxStretch(jobs []Job, capacity int64, threshold batch.Duration) (Bound, error) {
	in, err := prepare(jobs, capacity, threshold)
	if err != nil {
		return Bound{}, err
	}
	if len(in.jobs) == 0 {
		return Bound{Low: 1, High: 1}, nil
	}
	low, high, err := newSearch(in).run()
	if err != nil {
		return Bound{}, err
	}
	return Bound{Low: float64(low) / one, High: float64(high) / one}, nil
}
