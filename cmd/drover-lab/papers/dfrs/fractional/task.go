package fractional

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Task is a case and its instance.
type Task struct {
	Case
	Instance *Instance

	bound func() (float64, error) // computed when it is asked for first
}

// Run runs it. known is the instance's bound, if that is known already.
func (t *Task) Run(ctx context.Context, known float64, o Options) (Row, error) {
	row, err := Run(ctx, t.Instance, t.Algorithm, t.Period, t.Penalty, o)
	if err != nil {
		return Row{}, err
	}
	if row.Bound = known; known == 0 && t.Set != Whole {
		row.Bound, err = t.bound()
	}
	return row, err
}

// bound returns the bound of an instance, which is computed at most once.
func (all *Instances) bound(in *Instance) func() (float64, error) {
	b, ok := all.bounds[in]
	if !ok {
		b = sync.OnceValues(in.Bound)
		all.bounds[in] = b
	}
	return b
}

// Tasks returns the plan's runs, each once: those of one algorithm after those of
// another, and of each the largest instances first.
func (p *Plan) Tasks(all *Instances) []Task {
	var tasks []Task
	seen := map[Case]bool{}
	for _, set := range p.Sets {
		instances := slices.Clone(all.sets[set])
		slices.SortStableFunc(instances, func(a, b *Instance) int { return cmp.Compare(len(b.Jobs), len(a.Jobs)) })
		for _, w := range p.wishes(set) {
			for _, in := range instances {
				c := Case{Set: set, Trace: in.Trace, Load: in.Load, Algorithm: w.algorithm, Penalty: p.Penalty}
				if Periodic(w.algorithm) {
					c.Period = w.period
				}
				if in.Load < w.from || seen[c] {
					continue
				}
				seen[c] = true
				tasks = append(tasks, Task{c, in, all.bound(in)})
			}
		}
	}
	return tasks
}
