package bound

import (
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/seed-9b8f70bb/drover/batch"
)

// The oracles know nothing of free intervals, cells, cuts or rounding: time is
// counted in parts of 2^-20 microseconds, in which every deadline is whole.

// axis returns the deadlines of a stretch and every instant at which something
// is released or due.
func axis(jobs []Job, threshold batch.Duration, stretch int64) (due, at []int64) {
	for _, j := range jobs {
		d := int64(j.Release)*one + stretch*int64(max(j.Length, threshold))
		due = append(due, d)
		at = append(at, int64(j.Release)*one, d)
	}
	slices.Sort(at)
	return due, slices.Compact(at)
}

// byFlow reports whether a stretch is possible: augmenting paths, the shortest
// first, on a matrix of what is left of each arc of the full network.
func byFlow(jobs []Job, capacity int64, threshold batch.Duration, stretch int64) bool {
	due, at := axis(jobs, threshold, stretch)
	intervals := len(at) - 1
	source, sink := len(jobs)+intervals, len(jobs)+intervals+1
	left := make([][]int64, sink+1)
	for i := range left {
		left[i] = make([]int64, sink+1)
	}
	var missing int64
	for i, j := range jobs {
		left[source][i] = j.Rate * int64(j.Length) * one
		missing += left[source][i]
		for k := range intervals {
			if at[k] >= int64(j.Release)*one && at[k+1] <= due[i] {
				left[i][len(jobs)+k] = j.Rate * (at[k+1] - at[k])
			}
		}
	}
	for k := range intervals {
		left[len(jobs)+k][sink] = capacity * (at[k+1] - at[k])
	}
	for missing > 0 {
		from := make([]int, sink+1)
		for i := range from {
			from[i] = -1
		}
		from[source] = source
		for queue := []int{source}; len(queue) > 0; queue = queue[1:] {
			for to, room := range left[queue[0]] {
				if room > 0 && from[to] < 0 {
					from[to] = queue[0]
					queue = append(queue, to)
				}
			}
		}
		if from[sink] < 0 {
			return false
		}
		amount := missing
		for v := sink; v != source; v = from[v] {
			amount = min(amount, left[from[v]][v])
		}
		for v := sink; v != source; v = from[v] {
			left[from[v]][v] -= amount
			left[v][from[v]] += amount
		}
		missing -= amount
	}
	return true
}

// byProgram returns how much of all work, 0 to 1, can be done in time: the
// linear program of the paper, with the work to be maximized instead of given.
func byProgram(jobs []Job, capacity int64, threshold batch.Duration, stretch int64) (float64, error) {
	due, at := axis(jobs, threshold, stretch)
	type variable struct{ job, interval int }
	var variables []variable
	for i, j := range jobs {
		for k := range len(at) - 1 {
			if at[k] >= int64(j.Release)*one && at[k+1] <= due[i] {
				variables = append(variables, variable{i, k})
			}
		}
	}
	// One row for each job, interval and variable, each with its own slack.
	rows := len(jobs) + len(at) - 1 + len(variables)
	a := mat.NewDense(rows, len(variables)+rows, nil)
	b, c := make([]float64, rows), make([]float64, len(variables)+rows)
	const unit = one * float64(batch.Second)
	total := 0.0
	for i, j := range jobs {
		b[i] = float64(j.Rate) * float64(j.Length) / float64(batch.Second)
		total += b[i]
	}
	for k := range len(at) - 1 {
		b[len(jobs)+k] = float64(capacity) * float64(at[k+1]-at[k]) / unit
	}
	for v, x := range variables {
		row := len(jobs) + len(at) - 1 + v
		c[v] = -1
		a.Set(x.job, v, 1)
		a.Set(len(jobs)+x.interval, v, 1)
		a.Set(row, v, 1)
		b[row] = float64(jobs[x.job].Rate) * float64(at[x.interval+1]-at[x.interval]) / unit
	}
	basis := make([]int, rows)
	for i := range rows {
		a.Set(i, len(variables)+i, 1)
		basis[i] = len(variables) + i
	}
	best, _, err := lp.Simplex(c, a, b, 1e-10, basis)
	return -best / total, err
}
