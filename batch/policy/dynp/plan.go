package dynp

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// plan is a start for each task, made in the order of one policy.
type plan struct {
	order  []int32      // tasks
	starts []batch.Time // by task; Never for those without a place
	placed int          // so many of the order have been looked at
	value  value        // if all have been; else a bound that it would have exceeded
}

// value is what a plan is worth. One without a place for a job is worse than any
// that has fewer such jobs.
type value struct {
	unplaced int
	sums     [maxParts]wide // of each metric of the objective, over those placed
}

// maxParts is how many metrics an objective has at most.
const maxParts = 7

// whole says whether all tasks have been looked at.
func (pl *plan) whole() bool { return pl.placed == len(pl.order) }

// sort puts the tasks into the order of a policy.
func (pl *plan) sort(tasks []task, o order) {
	pl.order = pl.order[:0]
	for i := range tasks {
		pl.order = append(pl.order, int32(i))
	}
	if o != nil {
		slices.SortFunc(pl.order, func(a, b int32) int {
			if c := o(tasks[a].shape, tasks[b].shape); c != 0 {
				return c
			}
			return int(a - b)
		})
	}
}

// planner makes plans: scratch memory.
type planner struct {
	free *profile.Profile
	rest wide // what those still to be placed add to the metric, at least
}

// begin empties a plan for so many tasks.
func (pl *plan) begin(tasks int) {
	pl.placed, pl.value = 0, value{}
	if cap(pl.starts) < tasks {
		pl.starts = make([]batch.Time, tasks)
	}
	pl.starts = pl.starts[:tasks]
}

// make places all tasks in the plan's order beside what is in the profile. like is a
// plan of the same tasks or nil: as far as both orders are the same, so are their
// starts.
//
// With a limit it stops as soon as the plan's value is known to be above it.
func (m *planner) make(now batch.Time, pl, like *plan, tasks []task, running *profile.Profile, o objective, limit *limit) {
	pl.begin(len(tasks))
	m.copy(running)
	m.rest = wide{}
	if limit != nil {
		m.rest = limit.all
	}
	for k, i := range pl.order {
		t := &tasks[i]
		if like != nil && (k >= like.placed || like.order[k] != i) {
			like = nil
		}
		start := batch.Never
		switch {
		case like != nil:
			start = like.starts[i]
		case t.first != batch.Never:
			start = m.free.Fit(t.first, t.shape.Walltime, t.shape.Width)
		}
		pl.starts[i] = start
		pl.placed++
		m.rest = m.rest.sub(t.best)
		if start == batch.Never {
			pl.value.unplaced++
		} else {
			if !t.incoming || start > now { // who may not start takes nothing now
				m.free.Reserve(start, start.Add(t.shape.Walltime), t.shape.Width)
			}
			for i := range o {
				pl.value.sums[i] = o[i].with(pl.value.sums[i], o[i].of(now, t, start))
			}
		}
		if limit != nil && limit.below(&pl.value, m.rest) {
			return
		}
	}
}

func (m *planner) copy(running *profile.Profile) {
	if m.free == nil {
		m.free = running.Clone()
		return
	}
	m.free.CopyFrom(running)
}

// limit is what a plan has to keep to be among the best.
type limit struct {
	by       *metric
	unplaced int
	sum      wide
	all      wide // what all tasks add at least
}

// below says whether a plan that has this value so far, and at least the rest to
// come, will be worse than the limit. A job that counts in the rest and finds no
// place makes it worse all the more.
func (l *limit) below(v *value, rest wide) bool {
	if v.unplaced != l.unplaced {
		return v.unplaced > l.unplaced
	}
	if l.by.peak {
		rest = l.all
	}
	return l.sum.less(l.by.with(v.sums[0], rest))
}
