package farm

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/engine"
	"github.com/seed-9b8f70bb/drover/batch/policy"
)

// Options are what a run may have beside its case.
type Options struct {
	// Clock is how long ago anything was, to measure costs; nil measures none.
	Clock func() time.Duration
	// Ledger checks every decision against the farm, and panics at the first one that
	// is wrong. It costs time.
	Ledger bool
	// Factory makes another policy than the one called Policy.
	Factory batch.Factory
}

// UnendedError says that a policy has left jobs behind that it never runs.
type UnendedError struct {
	Case Case
	Jobs int
}

// Error says how many.
func (e *UnendedError) Error() string {
	return fmt.Sprintf("%s, seed %d, inter-arrival %d, %s: %d jobs are never ended", e.Case.Set, e.Case.Seed,
		e.Case.Arrival, e.Case.Algorithm, e.Jobs)
}

// StuckError says that jobs are moved before they get on, for ever.
type StuckError struct {
	Case  Case
	Jobs  int            // that are there
	Since batch.Duration // that one has ended
}

// Error says since when.
func (e *StuckError) Error() string {
	return fmt.Sprintf("%s, seed %d, inter-arrival %d, %s, %d MB a unit: given up: none of %d jobs has ended for %v",
		e.Case.Set, e.Case.Seed, e.Case.Arrival, e.Case.Algorithm, e.Case.Rate, e.Jobs, e.Since)
}

// Run runs a case. It ends early only if ctx does. Errors are those of Generate and of
// the policy's settings, an *UnendedError or a *StuckError.
func Run(ctx context.Context, c Case, o Options) (Row, Cost, error) {
	in, err := Generate(c.Model(), c.Seed)
	if err != nil {
		return Row{}, Cost{}, err
	}
	return RunOn(ctx, in, c, o)
}

// RunOn runs a case on an instance.
func RunOn(ctx context.Context, in *Instance, c Case, o Options) (Row, Cost, error) {
	settings, err := settingsOf(c.Algorithm)
	if err != nil {
		return Row{}, Cost{}, err
	}
	if o.Factory == nil {
		o.Factory = func(p batch.Platform, s batch.Settings) (batch.Policy, error) { return policy.New(Policy, p, s) }
	}
	platform := in.Platform()
	policy, err := o.Factory(platform, settings)
	if err != nil {
		return Row{}, Cost{}, err
	}
	r := &run{in: in, c: c, meter: newMeter(in), watch: &stopwatch{Policy: policy, clock: o.Clock}}
	var ledger *engine.Ledger
	if o.Ledger {
		ledger = engine.NewLedger(platform)
	}
	r.engine = engine.New(r.watch, r, ledger)
	r.engine.Machine(platform)
	if c.Rate > 0 {
		r.engine.Transfer = r.transfer
	}
	if c.Set == Knapsacks {
		r.pairs = newPairs(in, o.Clock)
	}
	if err := r.serve(ctx); err != nil {
		return Row{}, Cost{}, err
	}
	row, cost := r.meter.row(c), r.watch.cost(c)
	row.Plans = cost.Plans
	if r.pairs != nil {
		row.Knapsacks = r.pairs.comparison()
		cost.Greedy, cost.Exact = r.pairs.greedy.seconds(), r.pairs.exact.seconds()
	}
	if left := len(in.Jobs) - r.meter.ended; left > 0 && c.Set != Growth {
		return Row{}, Cost{}, &UnendedError{c, left}
	}
	return row, cost, nil
}

// run is one run.
type run struct {
	in     *Instance
	c      Case
	engine *engine.Engine
	meter  *meter
	watch  *stopwatch
	pairs  *pairs // of knapsacks; nil if there are none
}

// checkEvery is how many instants lie between two looks at the context.
const checkEvery = 1 << 6

// patience is how many times the longest job may pass without an end.
const patience = 100

func (r *run) serve(ctx context.Context) error {
	jobs := r.in.Jobs
	longest := r.longest()
	for next, instants := 0, 0; ; instants++ {
		if instants%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		now := r.engine.Next()
		if next < len(jobs) {
			now = min(now, jobs[next].Submit)
		}
		if now == batch.Never || r.meter.ended == len(jobs) || r.c.Set == Growth && next == len(jobs) {
			return nil
		}
		if there := next - r.meter.ended; there > 0 && now.Sub(r.meter.lately) > patience*longest {
			return &StuckError{r.c, there, now.Sub(r.meter.lately)}
		}
		r.meter.pass(now)
		r.engine.Advance(now)
		for ; next < len(jobs) && jobs[next].Submit == now; next++ {
			r.meter.submitted(next)
			r.engine.Submit(r.in.spec(next), jobs[next].Estimate)
		}
		if r.pairs != nil && instants%pairsEvery == 0 {
			r.pairs.look(r.meter)
		}
		r.engine.Pass()
		r.watch.planned()
	}
}

// longest returns more than the time of any job on any machine, with its input's way.
func (r *run) longest() batch.Duration {
	longest := batch.Duration(1)
	for i := range r.in.Jobs {
		j := &r.in.Jobs[i]
		slowest, _ := r.in.scores(j)
		d := j.On(max(1, slowest))
		if r.c.Rate > 0 {
			d += r.away(j)
		}
		longest = max(longest, d)
	}
	return longest
}

// away returns how long a job's input travels.
func (r *run) away(j *Job) batch.Duration {
	return batch.Duration(j.Input).Times(int64(Unit), r.c.Rate*MB)
}

// transfer is how long a job waits for its input on a machine.
func (r *run) transfer(spec *batch.Job, to []batch.NodeAllocation) batch.Duration {
	j := &r.in.Jobs[indexOf(spec.Handle)]
	if to[0].Node == j.Place {
		return 0
	}
	return r.away(j)
}

// Started implements engine.Observer; Decided has the same information.
func (r *run) Started(batch.Time, *batch.Job, []batch.NodeAllocation) {}

// Ended implements engine.Observer.
func (r *run) Ended(_ batch.Time, spec *batch.Job, killed bool) {
	r.meter.endOf(indexOf(spec.Handle), killed)
}

// Decided implements engine.Watcher.
func (r *run) Decided(_ batch.Time, spec *batch.Job, d *batch.Decision) {
	r.meter.decided(indexOf(spec.Handle), d)
}
