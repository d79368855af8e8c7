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

// Distribution is what is told of many values.
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

// OfGrid says that a run is of a job that could run anywhere.
func OfGrid(r *Run) bool { return r.Job.Cluster == Anywhere }

// OfLocals says that a run is of a local user's job.
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
// makespan, by everybody's jobs.
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
