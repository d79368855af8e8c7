package bound

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Job is the input of the bound for one job.
type Job struct {
	Release batch.Time
	// Length is the job's runtime when all its tasks get what they need.
	Length batch.Duration
	// Rate is the capacity that it uses then: its tasks times their need, in the
	// unit of the machine's capacity.
	Rate int64
}

// Bound is an interval that contains the smallest possible maximum stretch. Both
// ends are whole multiples of 2^-20, which a float64 holds exactly.
type Bound struct {
	// Low is the bound: no schedule has a smaller maximum stretch.
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

// JobError reports a job that cannot be bounded, and the reason.
type JobError struct {
	Index    int    // in the jobs that were given
	Field    string // release, length or rate
	Value    int64
	Accepted string
}

func (e *JobError) Error() string {
	return fmt.Sprintf("bound: job %d: %s %d: accepted: %s", e.Index, e.Field, e.Value, e.Accepted)
}

// RangeError reports that the jobs together, or a parameter that they share, exceed
// what 64 bits of microseconds can hold.
type RangeError struct {
	What     string
	Accepted string
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("bound: %s: accepted: %s", e.What, e.Accepted)
}

const (
	// one is a stretch of 1: stretches are counted in parts of 2^-20.
	one = 1 << 20
	// latest bounds all times, counted from the first release. The sum of two
	// times is far from overflow.
	latest = 1 << 60
	// widest bounds the capacity once rates and capacity have lost what divides
	// all of them, so that a cell of the network may be long enough.
	widest = 1 << 40
	// most bounds the number of jobs, so that the demand of all fits 64 bits.
	most = 1 << 22
)

// job is a job with work. Times are microseconds since the first release.
type job struct {
	release int64
	length  int64 // of its work, at full rate
	measure int64 // what its stretch is relative to: length or the threshold
	rate    int64
}

// instance is the problem in the smallest whole numbers.
type instance struct {
	jobs     []job
	capacity int64
	// horizon is the time by which every work-conserving schedule has finished
	// all jobs. No deadline needs to be later.
	horizon int64
	// ceiling is a stretch at which every deadline is the horizon.
	ceiling int64
	// longest is the length up to which a cell's capacity fits 62 bits.
	longest int64
}

// prepare checks the input, drops jobs without work, moves the time origin to the first
// release, and divides rates and capacity by their greatest common divisor.
func prepare(given []Job, capacity int64, threshold batch.Duration) (instance, error) {
	switch {
	case capacity < 1:
		return instance{}, &RangeError{fmt.Sprintf("capacity %d", capacity), "1 and more"}
	case threshold < 0:
		return instance{}, &RangeError{fmt.Sprintf("threshold %d", threshold), "0 and more"}
	case len(given) > most:
		return instance{}, &RangeError{fmt.Sprintf("%d jobs", len(given)), fmt.Sprintf("up to %d", most)}
	}
	first := batch.Time(math.MaxInt64)
	unit := capacity
	for i, g := range given {
		if err := check(i, g, capacity); err != nil {
			return instance{}, err
		}
		if g.Length > 0 {
			first = min(first, g.Release)
			unit = divisor(unit, g.Rate)
		}
	}
	in := instance{capacity: capacity / unit}
	in.longest = (1 << 62) / in.capacity
	if in.capacity > widest {
		return instance{}, &RangeError{
			fmt.Sprintf("capacity %d", capacity),
			fmt.Sprintf("up to %d times what divides it and all rates", widest),
		}
	}
	for i, g := range given {
		if g.Length == 0 {
			continue
		}
		if g.Release > first && uint64(g.Release)-uint64(first) > latest {
			return instance{}, &JobError{i, "release", int64(g.Release), "at most 2^60 microseconds after the first"}
		}
		in.jobs = append(in.jobs, job{
			release: int64(g.Release) - int64(first),
			length:  int64(g.Length),
			measure: int64(max(g.Length, threshold)),
			rate:    g.Rate / unit,
		})
	}
	return in, in.limit()
}

func check(i int, g Job, capacity int64) error {
	switch {
	case g.Length < 0 || g.Length > latest:
		return &JobError{i, "length", int64(g.Length), "0 to 2^60 microseconds"}
	case g.Length > 0 && (g.Rate < 1 || g.Rate > capacity):
		return &JobError{i, "rate", g.Rate, fmt.Sprintf("1 to %d, the capacity of the machine", capacity)}
	}
	return nil
}

// limit sets horizon and ceiling. After the last release, a schedule that
// leaves nothing idle either fills the machine, for no longer than all work
// takes, or runs each job that is left at full rate, for no longer than the
// longest job.
func (in *instance) limit() error {
	var work wide
	var last, longest int64
	for _, j := range in.jobs {
		work = work.add(product(j.rate, j.length))
		last, longest = max(last, j.release), max(longest, j.length)
	}
	busy, ok := work.over(in.capacity)
	if !ok || busy > latest || last+busy+longest > latest {
		return &RangeError{"the work of all jobs", "what is done within 2^60 microseconds"}
	}
	in.horizon = last + busy + longest
	in.ceiling = one
	for _, j := range in.jobs {
		s, ok := product(in.horizon-j.release, one).over(j.measure)
		if !ok || s > latest {
			return &RangeError{"the ratio of all work to the shortest job", "up to 2^40"}
		}
		in.ceiling = max(in.ceiling, s)
	}
	return nil
}

// deadline returns the latest end of j for this stretch. Jobs end at whole
// microseconds, so it is rounded up.
func (in *instance) deadline(j *job, stretch int64) int64 {
	hi, lo := bits.Mul64(uint64(stretch), uint64(j.measure))
	if hi >= one>>1 {
		return in.horizon // beyond it by far
	}
	lo, carry := bits.Add64(lo, one-1, 0)
	after := (hi+carry)<<44 | lo>>20
	if after >= uint64(in.horizon-j.release) {
		return in.horizon
	}
	return j.release + int64(after)
}

func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
