package bench

import (
	"math"
	"slices"
	"time"
)

// Figures sum up runs that have ended.
type Figures struct {
	Jobs         int
	Response     Distribution // seconds
	Slowdown     Distribution
	WaitMean     float64 // seconds
	Moves        int
	MovedAtLeast int // jobs that have moved
}

// Distribution sums up many values.
type Distribution struct{ Mean, P95 float64 }

// FiguresOf sums up the runs that have ended and meet a condition.
func FiguresOf(runs []Run, count func(*Run) bool) Figures {
	var f Figures
	var responses, slowdowns []float64
	for i := range runs {
		r := &runs[i]
		if r.Times == 0 || !count(r) {
			continue
		}
		f.Jobs++
		f.Moves += r.Moves
		if r.Moves > 0 {
			f.MovedAtLeast++
		}
		f.WaitMean += r.Begun.Sub(r.Submitted).Seconds()
		responses = append(responses, r.Response().Seconds())
		slowdowns = append(slowdowns, r.Slowdown())
	}
	if f.Jobs > 0 {
		f.WaitMean /= float64(f.Jobs)
	}
	f.Response, f.Slowdown = distributionOf(responses), distributionOf(slowdowns)
	return f
}

// OfGrid reports whether a run's job could run anywhere.
func OfGrid(r *Run) bool { return r.Job.Cluster == Anywhere }

// OfLocals reports whether a run's job is a local user's.
func OfLocals(r *Run) bool { return r.Job.Cluster != Anywhere }

func distributionOf(values []float64) Distribution {
	if len(values) == 0 {
		return Distribution{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Distribution{Mean: sum / float64(len(values)), P95: percentile(values, 95)}
}

// percentile is that of the nearest rank, of sorted values.
func percentile[T any](sorted []T, percent int) T {
	return sorted[max((len(sorted)*percent+99)/100-1, 0)]
}

// Makespan is from the first submission to the last end.
func Makespan(runs []Run) time.Duration {
	var first, last time.Time
	for i := range runs {
		r := &runs[i]
		if first.IsZero() || r.Submitted.Before(first) {
			first = r.Submitted
		}
		if r.Ended.After(last) {
			last = r.Ended
		}
	}
	return max(last.Sub(first), 0)
}

// Utilization is the part of the clusters' processors that was in use within the
// makespan, by all jobs.
func Utilization(runs []Run, processors int) float64 {
	used := 0.0
	for i := range runs {
		if r := &runs[i]; r.Times > 0 {
			used += float64(r.Job.Width) * r.Ended.Sub(r.Begun).Seconds()
		}
	}
	all := float64(processors) * Makespan(runs).Seconds()
	if all <= 0 {
		return 0
	}
	return used / all
}

// Ratios are the figures of one side over those of the other.
type Ratios struct{ ResponseMean, ResponseP95, SlowdownMean, SlowdownP95 float64 }

// RatiosOf returns a over b; 0 where there is nothing to divide by.
func RatiosOf(a, b *Figures) Ratios {
	over := func(x, y float64) float64 {
		if y <= 0 {
			return 0
		}
		return x / y
	}
	return Ratios{
		ResponseMean: over(a.Response.Mean, b.Response.Mean), ResponseP95: over(a.Response.P95, b.Response.P95),
		SlowdownMean: over(a.Slowdown.Mean, b.Slowdown.Mean), SlowdownP95: over(a.Slowdown.P95, b.Slowdown.P95),
	}
}

// Spread is how a ratio comes out over several repetitions.
type Spread struct{ GeometricMean, Min, Max float64 }

// SpreadOf sums up positive ratios, of which there is at least one.
func SpreadOf(ratios []float64) Spread {
	sum := 0.0
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return Spread{GeometricMean: math.Exp(sum / float64(len(ratios))), Min: slices.Min(ratios), Max: slices.Max(ratios)}
}

// Errors are what happened minus what was said, in seconds: positive of what came
// later.
type Errors struct {
	Jobs     int
	Bias     float64 // mean
	P50, P90 float64 // of the amounts, early or late
}

// Estimates compares what Drover and sbatch --test-only said of the same jobs at the
// same moment about the same cluster with what happened. Only jobs are counted that
// both have said something about, and that have stayed where they were submitted.
type Estimates struct {
	DroverStart, TestStart Errors
	// Ends are estimated by walltimes: of sbatch's its start and the walltime.
	DroverEnd, TestEnd Errors
}

// EstimatesOf compares the estimates of runs.
func EstimatesOf(runs []Run) Estimates {
	var start, test, end, testEnd []float64
	for i := range runs {
		r := &runs[i]
		if r.Times == 0 || r.Moves > 0 || r.Test.IsZero() || r.Forecast.IsZero() {
			continue
		}
		start = append(start, r.Begun.Sub(r.Forecast).Seconds())
		test = append(test, r.Begun.Sub(r.Test).Seconds())
		end = append(end, r.Ended.Sub(r.Expected).Seconds())
		testEnd = append(testEnd, r.Ended.Sub(r.Test.Add(r.Job.Walltime)).Seconds())
	}
	return Estimates{
		DroverStart: errorsOf(start), TestStart: errorsOf(test), DroverEnd: errorsOf(end),
		TestEnd: errorsOf(testEnd),
	}
}

// TestErrors are those of sbatch --test-only alone, of the starts of all the grid's
// jobs that have stayed: of the side that Slurm's rule has placed, where none moves.
func TestErrors(runs []Run) Errors {
	var errs []float64
	for i := range runs {
		if r := &runs[i]; r.Times > 0 && r.Moves == 0 && !r.Test.IsZero() {
			errs = append(errs, r.Begun.Sub(r.Test).Seconds())
		}
	}
	return errorsOf(errs)
}

func errorsOf(errs []float64) Errors {
	e := Errors{Jobs: len(errs)}
	if len(errs) == 0 {
		return e
	}
	for i, x := range errs {
		e.Bias += x
		errs[i] = max(x, -x)
	}
	e.Bias /= float64(len(errs))
	slices.Sort(errs)
	e.P50, e.P90 = percentile(errs, 50), percentile(errs, 90)
	return e
}
