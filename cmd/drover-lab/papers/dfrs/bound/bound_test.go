package bound

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

// seconds makes a job from whole seconds.
func seconds(release, length, rate int64) Job {
	return Job{batch.Time(release * int64(batch.Second)), batch.Duration(length) * batch.Second, rate}
}

func times(n int, j Job) []Job {
	var all []Job
	for range n {
		all = append(all, j)
	}
	return all
}

// staircase makes jobs that begin together and have lengths of their own.
func staircase(n int64) []Job {
	var all []Job
	for i := range n {
		all = append(all, seconds(0, i+1, 1))
	}
	return all
}

func TestMaxStretchOfSmallCases(t *testing.T) {
	for _, c := range []struct {
		name      string
		jobs      []Job
		capacity  int64
		threshold batch.Duration
		want      float64
	}{
		{"no jobs", nil, 1, 0, 1},
		{"one job", []Job{seconds(7, 5, 1)}, 1, 0, 1},
		{"only jobs without work", []Job{seconds(7, 0, 1), seconds(7, 0, 0)}, 1, 0, 1},
		{"a job without work", []Job{seconds(0, 5, 1), seconds(0, 0, 1)}, 1, 0, 1},
		{"both fit", []Job{seconds(0, 5, 1), seconds(0, 5, 1)}, 2, 0, 1},
		{"the same place twice", []Job{seconds(0, 5, 1), seconds(0, 5, 1)}, 1, 0, 2},
		{"one after the other", []Job{seconds(0, 5, 1), seconds(5, 5, 1)}, 1, 0, 1},
		{"a hundred equal ones", times(100, seconds(3, 60, 4)), 4, 0, 100},
		{"three share two places", times(3, seconds(0, 10, 1)), 2, 0, 1.5},
		{"a long one waits for a short one", []Job{seconds(0, 10, 1), seconds(0, 1, 1)}, 1, 0, 1.1},
		{"a short one that comes late", []Job{seconds(0, 10, 1), seconds(9, 1, 1)}, 1, 0, 1.1},
		// Work of 6 on 2 processors by the time the second must end.
		{"half a machine", []Job{seconds(0, 3, 1), seconds(0, 1, 2), seconds(0, 1, 1)}, 2, 0, 1.5},
		{"what is short is measured as if not", times(10, seconds(0, 1, 1)), 1, 10 * batch.Second, 1},
		{"until there are too many", times(11, seconds(0, 1, 1)), 1, 10 * batch.Second, 1.1},
		{"two busy periods, the worse counts", []Job{
			seconds(0, 5, 1), seconds(0, 5, 1), seconds(100, 5, 1), seconds(100, 5, 1), seconds(100, 5, 1),
		}, 1, 0, 3},
		{"times before the epoch", []Job{seconds(-100, 5, 1), seconds(-100, 5, 1)}, 1, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := MaxStretch(c.jobs, c.capacity, c.threshold)
			if err != nil {
				t.Fatal(err)
			}
			if got.Low > c.want || got.High < c.want || got.High-got.Low > 1.0/one {
				t.Errorf("bound %v, want %v within", got, c.want)
			}
			if c.want == 1 && got.Low != 1 {
				t.Errorf("bound %v, want exactly 1", got)
			}
		})
	}
}

// A machine of 120 nodes in parts of 2^-20 that is busy for years has done more
// work than 64 bits can count.
func TestMaxStretchIsExactWhereWorkExceeds64Bits(t *testing.T) {
	const capacity = 120<<20 + 1 // so that nothing divides it and the rates
	year := 365 * 24 * batch.Hour
	jobs := []Job{
		{0, 3 * year, capacity},
		{0, 3 * year, capacity - 1},
		{batch.Time(year), 2 * year, capacity - 3},
	}
	got, err := MaxStretch(jobs, capacity, 0)
	if err != nil {
		t.Fatal(err)
	}
	// All three are due when the first two are: after three times the stretch
	// in years, of which none may be idle.
	years := 3 + 3*float64(capacity-1)/capacity + 2*float64(capacity-3)/capacity
	if want := years / 3; math.Abs(got.Low-want) > 2.0/one {
		t.Errorf("bound %v, want %v", got, want)
	}
}

// Capacity 2, deadlines for a stretch of 2: a job of 10 with four pairs of 3,
// one pair every 3. By deadline the pairs come first, and the long job gets 8
// of its 10 seconds; it should have had a third of a processor all along.
func TestNoRuleThatLooksAtDeadlinesAloneIsOptimal(t *testing.T) {
	jobs := []Job{seconds(0, 10, 1)}
	for k := range int64(4) {
		jobs = append(jobs, seconds(3*k, 3, 1), seconds(3*k, 3, 1))
	}
	got, err := MaxStretch(jobs, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.High > 2 {
		t.Errorf("bound %v, want 2 or less", got)
	}
	if earliestDeadlineFirst(jobs, 2, 2) {
		t.Error("earliest deadline first keeps all deadlines: no example of what it is for")
	}
}

// earliestDeadlineFirst gives whole processors for whole seconds, to jobs that
// use one each.
func earliestDeadlineFirst(jobs []Job, processors int, stretch int64) bool {
	second := int64(batch.Second)
	left := make([]int64, len(jobs))
	for i, j := range jobs {
		left[i] = int64(j.Length) / second
	}
	due := func(i int) int64 { return (int64(jobs[i].Release) + stretch*int64(jobs[i].Length)) / second }
	for now := range int64(100) {
		var ready []int
		for i, j := range jobs {
			if left[i] > 0 && int64(j.Release)/second <= now {
				ready = append(ready, i)
			}
		}
		slices.SortStableFunc(ready, func(a, b int) int { return cmp.Compare(due(a), due(b)) })
		for _, i := range ready[:min(processors, len(ready))] {
			if now >= due(i) {
				return false
			}
			left[i]--
		}
	}
	return true
}

func TestMaxStretchRefusesWhatItCannotBound(t *testing.T) {
	good := seconds(0, 5, 1)
	for _, c := range []struct {
		name string
		job  Job
		want JobError
	}{
		{"wider than the machine", seconds(0, 5, 9), JobError{Index: 1, Field: "rate", Value: 9}},
		{"no rate", seconds(0, 5, 0), JobError{Index: 1, Field: "rate", Value: 0}},
		{"negative length", Job{0, -1, 1}, JobError{Index: 1, Field: "length", Value: -1}},
		{"endless", Job{0, batch.Forever, 1}, JobError{Index: 1, Field: "length", Value: math.MaxInt64}},
		{"never released", Job{batch.Never, 1, 1}, JobError{Index: 1, Field: "release", Value: math.MaxInt64}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := MaxStretch([]Job{good, c.job}, 8, 0)
			var got *JobError
			if !errors.As(err, &got) || got.Index != c.want.Index || got.Field != c.want.Field ||
				got.Value != c.want.Value {
				t.Fatalf("%v, want %v", err, c.want)
			}
		})
	}
	for _, c := range []struct {
		name      string
		jobs      []Job
		capacity  int64
		threshold batch.Duration
	}{
		{"no capacity", nil, 0, 0},
		{"capacity of too many parts", []Job{{0, 1, 1}}, 1 << 41, 0},
		{"negative threshold", nil, 1, -1},
		{"work for too long", times(5, Job{0, 1 << 59, 1}), 1, 0},
		{"lengths too far apart", []Job{{0, 1, 1}, {0, 1 << 45, 1}}, 1, 0},
		{"too many at a time", staircase(20_000), 1, 0},
		{"releases at both ends of time", []Job{{math.MinInt64, 1, 1}, {math.MaxInt64, 1, 1}}, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := MaxStretch(c.jobs, c.capacity, c.threshold)
			var r *RangeError
			var j *JobError
			if !errors.As(err, &r) && !errors.As(err, &j) {
				t.Fatalf("%v, %v, want an error about a range", b, err)
			}
		})
	}
}
