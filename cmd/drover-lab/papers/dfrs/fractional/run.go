package fractional

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/batch/policy/easy"
	"github.com/seed-9b8f70bb/drover/batch/policy/fcfs"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/bound"
)

// Task is a case and its instance.
type Task struct {
	Case
	Instance *Instance

	bound func() (float64, error) // computed when it is asked for first
}

// Run runs the task. known is the instance's bound if an earlier task computed it.
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

// Tasks returns the runs of the plan without duplicates, ordered by algorithm, the
// largest instances first.
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

// Options are the options of a run.
type Options struct {
	// Ledger checks every decision against the machine and panics at the first wrong
	// one. It slows the run down.
	Ledger bool
	// Wrap replaces the policy by a wrapper that observes it.
	Wrap func(batch.Policy) batch.Policy
	// Stretch, if not nil, receives each job's stretch by index at the end of the run.
	Stretch func(job int, stretch float64)
}

// UnendedError reports jobs that the policy never runs to their end.
type UnendedError struct {
	Case Case
	Jobs int
}

// Error says how many.
func (e *UnendedError) Error() string {
	return fmt.Sprintf("%s, trace %d, %s: %d jobs are never ended", e.Case.Set, e.Case.Trace, e.Case.Algorithm, e.Jobs)
}

// StuckError reports that jobs are moved again and again before they make progress.
type StuckError struct {
	Case  Case
	Jobs  int            // that are there
	Since batch.Duration // that one has ended
}

// Error says since when.
func (e *StuckError) Error() string {
	return fmt.Sprintf("%s, trace %d, load %d, %s, period %v, penalty %v: given up: none of %d jobs has ended for %v",
		e.Case.Set, e.Case.Trace, e.Case.Load, e.Case.Algorithm, e.Case.Period, e.Case.Penalty, e.Jobs, e.Since)
}

// batchPolicies are the policies that give each task a whole node.
var batchPolicies = map[string]batch.Factory{FCFS: fcfs.New, EASY: easy.New}

// Run runs the jobs of an instance by an algorithm and returns the row, but for its
// bound. The period is that of an algorithm that has one. It ends early only if ctx
// does. Errors are those of the policy's settings, an *UnendedError or a *StuckError.
func Run(ctx context.Context, in *Instance, algorithm string, period, penalty batch.Duration, o Options) (Row, error) {
	c := Case{Set: in.Set, Trace: in.Trace, Load: in.Load, Algorithm: algorithm, Penalty: penalty}
	if Periodic(algorithm) {
		c.Period = period
	}
	platform := batch.Processors(in.Nodes)
	factory, whole := batchPolicies[algorithm]
	var settings batch.Settings
	if !whole {
		factory = dfrs.New
		for i := range platform.Nodes {
			platform.Nodes[i].Memory = in.Memory
		}
		var err error
		if settings, err = settingsOf(algorithm); err != nil {
			return Row{}, err
		}
		if c.Period > 0 {
			settings["period"] = period.String()
		}
	}
	policy, err := factory(platform, settings)
	if err != nil {
		return Row{}, err
	}
	if o.Wrap != nil {
		policy = o.Wrap(policy)
	}
	var ledger *engine.Ledger
	if o.Ledger {
		ledger = engine.NewLedger(platform)
	}
	r := &run{in: in, c: c, whole: whole, meter: newMeter(in)}
	r.engine = engine.New(policy, r, ledger)
	r.engine.Penalty = penalty
	if err := r.serve(ctx); err != nil {
		return Row{}, err
	}
	if left := len(in.Jobs) - r.meter.ended; left > 0 {
		return Row{}, &UnendedError{c, left}
	}
	if o.Stretch != nil {
		for i, s := range r.meter.stretches {
			o.Stretch(i, s)
		}
	}
	return r.meter.row(c), nil
}

// run is one run.
type run struct {
	in     *Instance
	c      Case
	whole  bool // each task takes a whole node
	engine *engine.Engine
	meter  *meter
	specs  []*batch.Job // by handle
	unused []batch.Handle
}

// checkEvery is the number of instants between two checks of the context.
const checkEvery = 1 << 12

// patience bounds the time without a finished job, in multiples of the longest runtime.
const patience = 100

func (r *run) serve(ctx context.Context) error {
	jobs := r.in.Jobs
	longest := r.engine.Penalty
	for i := range jobs {
		longest = max(longest, jobs[i].Runtime)
	}
	r.specs = append(r.specs, nil) // batch.NoJob is no job's handle
	for next, instants := 0, 0; ; instants++ {
		if instants%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		now := r.engine.Next()
		if next < len(jobs) {
			now = min(now, jobs[next].Submit)
		}
		if now == batch.Never || r.meter.ended == len(jobs) {
			return nil
		}
		if there := next - r.meter.ended; there > 0 && now.Sub(r.meter.lately) > patience*longest {
			return &StuckError{r.c, there, now.Sub(r.meter.lately)}
		}
		r.engine.Advance(now)
		for ; next < len(jobs) && jobs[next].Submit == now; next++ {
			r.submit(next)
		}
		r.engine.Pass()
	}
}

func (r *run) submit(i int) {
	j := &r.in.Jobs[i]
	spec := r.take()
	spec.Shape = batch.Shape{Width: j.Tasks}
	if r.whole {
		spec.Shape.Walltime = j.Runtime
	} else {
		spec.CPU, spec.Memory, spec.Checkpoint = j.Need, j.Memory, true
		spec.Owner = ownerOf(i)
	}
	r.meter.submitted(r.engine.Now(), spec.Handle, i)
	r.engine.Submit(spec, j.Runtime)
}

// take returns a job with a handle that is not in use: a policy sees as many handles
// as there are jobs at once.
func (r *run) take() *batch.Job {
	if n := len(r.unused); n > 0 {
		h := r.unused[n-1]
		r.unused = r.unused[:n-1]
		return r.specs[h]
	}
	spec := &batch.Job{Handle: batch.Handle(len(r.specs))}
	r.specs = append(r.specs, spec)
	return spec
}

// Started implements engine.Observer; Decided has the same information.
func (r *run) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}

// Ended implements engine.Observer.
func (r *run) Ended(now batch.Time, spec *batch.Job, _ bool) {
	r.meter.endOf(now, spec.Handle)
	r.unused = append(r.unused, spec.Handle)
}

// Decided implements engine.Watcher.
func (r *run) Decided(now batch.Time, spec *batch.Job, d *batch.Decision) {
	r.meter.decided(now, spec.Handle, d)
}

// Bound returns a lower bound on the maximum stretch of any schedule, ignoring memory.
func (in *Instance) Bound() (float64, error) {
	jobs := make([]bound.Job, len(in.Jobs))
	for i := range in.Jobs {
		j := &in.Jobs[i]
		jobs[i] = bound.Job{Release: j.Submit, Length: j.Runtime, Rate: j.rate()}
	}
	b, err := bound.MaxStretch(jobs, int64(in.Nodes)*int64(batch.One), leastTime)
	return b.Low, err
}
