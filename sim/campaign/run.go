package campaign

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/reallocation"
	"github.com/seed-9b8f70bb/drover/sim"
)

// MaxWorkers bounds Options.Workers.
const MaxWorkers = 1024

// Options configure a run of a campaign.
type Options struct {
	// Dir is the folder of the results. A campaign resumes from the results in it.
	Dir string
	// Workers is the number of concurrent experiments; 0: one per core.
	Workers int
	// Clock returns the time since some instant. It does not affect results.
	Clock func() time.Duration
	// Progress is called once at the beginning and after each experiment, one call at a time.
	// It can be nil.
	Progress func(Progress)

	runner runner // nil: the simulator
}

// Progress is the progress of a campaign.
type Progress struct {
	Done, Total int
	Last        *Experiment // the last finished experiment; nil at the beginning
	// Left is the estimated remaining time, if Known.
	Left  time.Duration
	Known bool
}

// Report is the result of a run.
type Report struct {
	Experiments int // in the campaign, including references
	References  int
	Resumed     int // finished in an earlier run
}

// Run runs the unfinished experiments of a campaign and writes its tables. When ctx ends it
// returns an *InterruptedError and keeps the finished rows.
func Run(ctx context.Context, c *Campaign, o Options) (*Report, error) {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Workers < 1 || o.Workers > MaxWorkers {
		return nil, fmt.Errorf("workers: %d, accepted: 1..%d", o.Workers, MaxWorkers)
	}
	if o.runner == nil {
		o.runner = simulator{}
	}
	traces, err := c.traces(o.runner)
	if err != nil {
		return nil, err
	}
	experiments := c.Experiments()
	f, err := openFolder(o.Dir, c.identity(traces), experiments)
	if err != nil {
		return nil, err
	}
	r := &Report{Experiments: len(experiments), References: c.references(), Resumed: f.done}
	err = newCampaignRun(c, &o, f).run(ctx)
	if cause := ctx.Err(); cause != nil && errors.Is(err, cause) {
		err = &InterruptedError{f.done, len(experiments), o.Dir, cause}
	}
	// The finished rows are written even if the run failed.
	return r, errors.Join(err, f.write(), f.close())
}

// campaignRun is a running campaign.
type campaignRun struct {
	options *Options
	folder  *folder
	queue   *queue
	shelf   *shelf
	pace    *pace
}

// finished is the result of a task.
type finished struct {
	task task
	row  []string // nil if the journal has it
	wall float64
	last bool // the last of its group
	err  error
}

func newCampaignRun(c *Campaign, o *Options, f *folder) *campaignRun {
	todo := groups(f.experiments, func(i int) bool { return f.rows[i] != nil })
	r := &campaignRun{
		options: o, folder: f, queue: newQueue(todo), shelf: newShelf(o.runner, c, todo),
		pace: newPace(f.experiments, o.Workers),
	}
	for i := range f.rows {
		if f.rows[i] != nil {
			r.pace.ended(i, f.walls[i])
		}
	}
	return r
}

// run runs all tasks and collects their rows. It stops at the first failure.
func (r *campaignRun) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, r.queue.stop)()
	rows := make(chan finished)
	var workers sync.WaitGroup
	for range r.options.Workers {
		workers.Go(func() {
			for {
				t, ok := r.queue.take()
				if !ok {
					return
				}
				d := r.do(ctx, t)
				if d.err != nil {
					r.queue.stop()
				}
				rows <- d
			}
		})
	}
	go func() {
		workers.Wait()
		close(rows)
	}()
	r.tell(nil)
	var failed error
	for d := range rows { // receives all results: rows that finish after a failure are kept
		err := d.err
		if _, changed := errors.AsType[*ChangedError](failed); err == nil && !changed {
			err = r.take(&d)
		}
		if err != nil && (failed == nil || errors.Is(failed, context.Canceled)) {
			failed = err
		}
		if err != nil {
			cancel()
		}
	}
	if failed == nil && r.folder.done < len(r.folder.rows) {
		failed = ctx.Err()
	}
	return failed
}

// do runs a task in a worker.
func (r *campaignRun) do(ctx context.Context, t task) finished {
	d := finished{task: t}
	e := &r.folder.experiments[t.experiment]
	fail := func(err error) finished {
		d.err = fmt.Errorf("%v: %w", e, err)
		return d
	}
	p, err := r.shelf.get(ctx, e.Scenario)
	if err != nil {
		return fail(err)
	}
	begin := r.options.Clock()
	var reference *sim.Result
	if !e.Reference {
		reference = t.group.compare
	}
	result, compared, err := p.run(ctx, e, reference)
	if err != nil {
		return fail(err)
	}
	d.row = rowOf(e, &compared)
	d.wall = (r.options.Clock() - begin).Seconds()
	if r.folder.rows[t.experiment] != nil { // a reference that is needed again
		if d.err = r.folder.same(t.experiment, d.row); d.err != nil {
			return d
		}
		d.row = nil
	}
	if d.last = r.queue.ended(t, result); d.last {
		r.shelf.release(e.Scenario)
	}
	return d
}

// take stores a row.
func (r *campaignRun) take(d *finished) error {
	i := d.task.experiment
	if d.row == nil {
		return nil
	}
	if err := r.folder.put(i, d.row, d.wall); err != nil {
		return err
	}
	r.pace.ended(i, d.wall)
	r.tell(&r.folder.experiments[i])
	if d.last {
		return r.folder.write()
	}
	return nil
}

func (r *campaignRun) tell(last *Experiment) {
	if r.options.Progress == nil {
		return
	}
	p := Progress{Done: r.folder.done, Total: len(r.folder.experiments), Last: last}
	p.Left, p.Known = r.pace.rest()
	r.options.Progress(p)
}

// runner runs experiments.
type runner interface {
	// traces returns the traces of a scenario.
	traces(s *Scenario) ([]sim.TraceFile, error)
	// prepare reads what all experiments of a scenario share.
	prepare(ctx context.Context, s *Scenario, days int) (prepared, error)
}

// prepared is a prepared scenario; experiments on it can run concurrently.
type prepared interface {
	// run runs an experiment and compares it with a reference, or with itself if that is nil.
	run(ctx context.Context, e *Experiment, reference *sim.Result) (*sim.Result, sim.Comparison, error)
}

// simulator is the production runner.
type simulator struct{}

func (simulator) traces(s *Scenario) ([]sim.TraceFile, error) { return s.Grid.TraceFiles(s.Path) }

func (simulator) prepare(ctx context.Context, s *Scenario, days int) (prepared, error) {
	grid := s.Grid
	if days > 0 {
		grid = grid.FirstDays(days)
	}
	p, err := grid.Prepare(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	return &simulated{p, grid.Variant().Local}, nil
}

// simulated is a scenario of the simulator.
type simulated struct {
	scenario *sim.Prepared
	local    sim.Fraction // of the scenario itself
}

func (s *simulated) run(
	ctx context.Context, e *Experiment, reference *sim.Result,
) (*sim.Result, sim.Comparison, error) {
	v := sim.Variant{Seed: e.Seed, Homogeneous: e.Homogeneous, Tuning: e.Tuning.String()}
	if !e.Dedicated {
		if v.Local = s.local; v.Local.IsZero() {
			v.Local = sim.PaperLocal
		}
	}
	if !e.Reference {
		r := &e.Reallocation
		v.Reallocation = &sim.Reallocation{
			Algorithm: r.Algorithm.String(), Heuristic: r.Heuristic.String(), Window: r.Window.String(),
			Period: durationText(r.Period), Threshold: durationText(r.Threshold),
			Patience: reallocation.PatienceText(r.Patience),
		}
	}
	result, err := s.scenario.Run(ctx, v, nil)
	if err != nil {
		return nil, sim.Comparison{}, err
	}
	if reference == nil {
		reference = result
	}
	c, err := sim.Compare(reference, result)
	return result, c, err
}
