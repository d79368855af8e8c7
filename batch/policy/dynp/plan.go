package dynp

import (
	"slices"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/plan/counted"
	"github.com/seed-9b8f70bb/drover/batch/plan/profile"
)

// plan is a start for each task, made in the order of one policy.
type plan struct {
	order  []int32      // tasks
	starts []batch.Time // by task; Never for those without a slot
	placed int          // number of tasks of order that were examined
	value  value        // if all were; otherwise a bound that the value exceeds
}

// value is the value of a plan. A plan with fewer unplaced jobs is always better.
type value struct {
	unplaced int
	sums     [maxParts]wide // of each metric of the objective, over placed jobs
}

// maxParts is the largest number of metrics in an objective.
const maxParts = 7

// whole reports whether all tasks were examined.
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
	rest wide // lower bound of the summands of unplaced tasks
}

// begin empties a plan for n tasks.
func (pl *plan) begin(tasks int) {
	pl.placed, pl.value = 0, value{}
	if cap(pl.starts) < tasks {
		pl.starts = make([]batch.Time, tasks)
	}
	pl.starts = pl.starts[:tasks]
}

// make places all tasks in the plan's order beside the profile. like is a plan of the same
// tasks or nil: as long as the orders agree, so do the starts.
//
// With a limit it stops as soon as the plan's value exceeds it.
func (m *planner) make(
	now batch.Time, pl, like *plan, tasks []task, running *profile.Profile, o objective, limit *limit,
) {
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
			if !t.incoming || start > now { // an incoming job must not take capacity now
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

// limit is the value that a plan must not exceed to be among the best.
type limit struct {
	by       *metric
	unplaced int
	sum      wide
	all      wide // lower bound of the summands of all tasks
}

// below reports whether a plan with this value so far and at least the rest to come is
// worse than the limit. A job in the rest that finds no slot makes it even worse.
func (l *limit) below(v *value, rest wide) bool {
	if v.unplaced != l.unplaced {
		return v.unplaced > l.unplaced
	}
	if l.by.peak {
		rest = l.all
	}
	return l.sum.less(l.by.with(v.sums[0], rest))
}

// task is a waiting job in a pass.
type task struct {
	job      batch.Handle
	shape    batch.Shape // the processors that it takes, and its walltime
	arrival  batch.Time
	from     batch.Time // earliest start
	first    batch.Time // start if no other job waited
	best     wide       // its summand of the metric then, a lower bound
	incoming bool
}

// gather collects the waiting jobs, in order of submission, and returns the sum of their
// processors.
func (p *Policy) gather(now batch.Time) (charges int64) {
	p.tasks = p.tasks[:0]
	for q := p.Queue.Head(); q != nil; q = p.Queue.Next(q) {
		for i, h := range q.Job[:q.N] {
			j := p.Job(h)
			p.tasks = append(p.tasks, task{
				job: h, shape: batch.Shape{Width: q.Charge[i], Walltime: q.Walltime[i]},
				arrival: p.arrived[h], from: max(now, j.Spec.EarliestStart), incoming: j.State == counted.Incoming,
			})
			charges += int64(q.Charge[i])
		}
	}
	return charges
}

// look finds each job's start if it were alone.
func (p *Policy) look() {
	for i := range p.tasks {
		t := &p.tasks[i]
		t.first = p.Profile.Fit(t.from, t.shape.Walltime, t.shape.Width)
	}
}
