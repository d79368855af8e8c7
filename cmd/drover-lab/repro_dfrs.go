package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/batch"
	policy "github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dfrs/fractional"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// reproDFRSCmd is drover-lab repro dfrs.
type reproDFRSCmd struct {
	Sets       []string        `default:"hpc2n,unscaled,scaled,hpc2n-whole" placeholder:"SET" help:"Workloads: hpc2n (182 weeks of the log), unscaled (100 by the model), scaled (900, loads 0.1 to 0.9), hpc2n-whole (the log in one piece, for table 4). Default: all."`
	Tables     []string        `default:"2,3,4,5,figures" placeholder:"T" help:"What to run for: 2, 3, 4, 5, figures. Default: all."`
	Algorithms []string        `placeholder:"NAME" help:"Run these instead: FCFS, EASY, or names as the paper has them, GreedyPM*/per/opt=min/minvt=600. Settings of the policy can follow a name: 'NAME decay=1h'."`
	Periods    []time.Duration `default:"600s" placeholder:"D" help:"Periods of --algorithms. Default: 600s, the paper's."`
	Penalty    time.Duration   `default:"300s" placeholder:"D" help:"How long a resumed or moved job makes no progress."`
	Beyond     bool            `help:"Also run the recommended algorithm with settings beyond the paper."`
	Quick      bool            `help:"A few workloads of each set."`
	Results    string          `placeholder:"DIR" help:"Folder of the rows; finished runs are not run again. Default: --out."`
	Out        string          `default:"repro-dfrs" placeholder:"DIR" help:"Write the report there: tables, figures, report.md, report.json."`
	Doc        string          `placeholder:"FILE" help:"Also write the report into this page, between its two marks."`
	Jobs       *int            `placeholder:"N" help:"Runs at a time. Default: one for each core."`
	States     string          `hidden:"" placeholder:"FILE" help:"Only write the states that MCB8 meets on unscaled workloads, for its benchmark."`
}

// Run runs what is not done yet, and reports.
func (c *reproDFRSCmd) Run(a *app) error {
	workers, err := cmdline.CampaignWorkers(c.Jobs)
	if err != nil {
		return err
	}
	if c.States != "" {
		return c.states(a)
	}
	if c.Results == "" {
		c.Results = c.Out
	}
	plan, err := c.plan()
	if err != nil {
		return err
	}
	for _, d := range plan.Thrashing() {
		if _, err := fmt.Fprintln(a.Stderr, policy.ThrashingWarning(d, plan.Penalty)); err != nil {
			return err
		}
	}
	rows, err := c.rows(a, plan, workers)
	if err != nil {
		return err
	}
	return c.report(a, rows)
}

// states writes what a benchmark of MCB8 packs.
func (c *reproDFRSCmd) states(a *app) error {
	file, err := os.Create(c.States)
	if err != nil {
		return fmt.Errorf("--states: %w", err)
	}
	packed, _ := gzip.NewWriterLevel(file, gzip.BestCompression) // the level is right
	met, written, err := fractional.WriteStates(a.ctx, packed)
	if err := errors.Join(err, packed.Close(), file.Close()); err != nil {
		return fmt.Errorf("--states: %w", err)
	}
	_, err = fmt.Fprintf(a.Stdout, "%d states of %d in %s\n", written, met, c.States)
	return err
}

// plan returns what is to be run.
func (c *reproDFRSCmd) plan() (*fractional.Plan, error) {
	p := &fractional.Plan{Sets: c.Sets, Parts: c.Tables, Algorithms: c.Algorithms, Beyond: c.Beyond, Quick: c.Quick}
	if c.Penalty < 0 || c.Penalty%time.Microsecond != 0 {
		return nil,
			&cmdline.UsageError{Message: fmt.Sprintf("--penalty: %v, accepted: 0s or more, in whole microseconds",
				c.Penalty)}
	}
	p.Penalty = batch.Duration(c.Penalty / time.Microsecond)
	for _, d := range c.Periods {
		if d < time.Second || d%time.Microsecond != 0 {
			return nil,
				&cmdline.UsageError{Message: fmt.Sprintf("--periods: %v, accepted: 1s or more, in whole microseconds",
					d)}
		}
		p.Periods = append(p.Periods, batch.Duration(d/time.Microsecond))
	}
	if err := p.Validate(); err != nil {
		return nil, &cmdline.UsageError{Message: err.Error(), Hint: "drover-lab repro dfrs --help"}
	}
	return p, nil
}

// rows returns the plan's rows; those that the folder lacks are run. What is done stays
// there, whatever ends the rest.
func (c *reproDFRSCmd) rows(a *app, plan *fractional.Plan, workers int) (rows []fractional.Row, err error) {
	all, err := plan.Load(a.ctx)
	if absent, ok := errors.AsType[*swf.TraceNotFoundError](err); ok && plan.WithoutLog() {
		if _, err := fmt.Fprintf(a.Stderr, "left out: HPC2N, %v\n", absent); err != nil {
			return nil, err
		}
		all, err = plan.Load(a.ctx)
	}
	if err != nil {
		return nil, err
	}
	folder, err := fractional.OpenFolder(c.Results, plan.Penalty, all.Digest, cmdline.BuiltFrom())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	tasks := plan.Tasks(all)
	r := experiment[fractional.Task]{
		folder: c.Results, begunBy: folder.BegunBy(), cases: tasks, has: folder.Has,
		do: func(t fractional.Task) error {
			begin := time.Now()
			known, _ := folder.Bound(t.Instance)
			row, err := t.Run(a.ctx, known, fractional.Options{})
			if err != nil {
				return err
			}
			return folder.Add(&row, time.Since(begin).Seconds())
		},
	}
	stuck := func(err error) bool { return errors.As(err, new(*fractional.StuckError)) }
	if err := r.missing(a, workers, stuck); err != nil {
		return nil, err
	}
	return folder.Rows(tasks), nil
}

// report prints what was found: of the whole experiment with its report, of other
// algorithms a table.
func (c *reproDFRSCmd) report(a *app, rows []fractional.Row) error {
	if len(c.Algorithms) > 0 {
		return c.print(a, rows)
	}
	remark := ""
	if c.Quick {
		remark = "a few workloads of each set"
	}
	r, err := dfrs.NewReport(rows, remark)
	if err != nil {
		return err
	}
	return publication{"dfrs", c.Out, c.Doc}.publish(a, r, func(files int) error {
		_, err := fmt.Fprintf(a.Stdout, "%s\n%d files in %s\n", r.About(), files, c.Out)
		return err
	})
}

// dfrsSum sums up the rows of one set, algorithm and period.
type dfrsSum struct {
	set, algorithm string
	period         batch.Duration

	n                    int
	sum, squares, most   float64 // of the degradation from bound
	under                float64
	preempted, migrated  float64 // an hour
	preemptedGB, movedGB float64 // a second
}

// dfrsSums returns sums in the order in which their first rows stand.
func dfrsSums(rows []fractional.Row) []*dfrsSum {
	var all []*dfrsSum
	for i := range rows {
		r := &rows[i]
		var s *dfrsSum
		for _, o := range all {
			if o.set == r.Set && o.algorithm == r.Algorithm && o.period == r.Period {
				s = o
			}
		}
		if s == nil {
			s = &dfrsSum{set: r.Set, algorithm: r.Algorithm, period: r.Period}
			all = append(all, s)
		}
		s.add(r)
	}
	return all
}

func (s *dfrsSum) add(r *fractional.Row) {
	d := r.Degradation()
	s.n++
	s.sum += d
	s.squares += d * d
	s.most = max(s.most, d)
	s.under += r.Underutilization()
	preempted, migrated := r.PerHour()
	s.preempted, s.migrated = s.preempted+preempted, s.migrated+migrated
	preempted, migrated = r.Bandwidth()
	s.preemptedGB, s.movedGB = s.preemptedGB+preempted, s.movedGB+migrated
}

// deviation returns the standard deviation of the degradation.
func (s *dfrsSum) deviation() float64 {
	n := float64(s.n)
	return math.Sqrt(max(0, s.squares/n-s.sum/n*s.sum/n))
}

// print prints a line for each set, algorithm and period.
func (c *reproDFRSCmd) print(a *app, rows []fractional.Row) error {
	columns := []string{
		"period", "runs", "degradation", "std.", "max", "underutilization", "preemptions/h",
		"migrations/h", "GB/s", "GB/s",
	}
	t := cmdline.NewTable(a.Stdout, append(table.Row{"set", "algorithm"}, row(columns...)...), columns...)
	for _, s := range dfrsSums(rows) {
		n := float64(s.n)
		period := ""
		if s.period > 0 {
			period = s.period.String()
		}
		t.AppendRow(row(s.set, s.algorithm, period, fmt.Sprint(s.n),
			fmt.Sprintf("%.1f", s.sum/n), fmt.Sprintf("%.1f", s.deviation()), fmt.Sprintf("%.1f", s.most),
			fmt.Sprintf("%.3f",
				s.under/n),
			fmt.Sprintf("%.2f", s.preempted/n), fmt.Sprintf("%.2f", s.migrated/n), fmt.Sprintf("%.2f",
				s.preemptedGB/n), fmt.Sprintf("%.2f", s.movedGB/n)))
	}
	t.Render()
	_, err := fmt.Fprintf(a.Stdout, "%d rows in %s\n", len(rows), c.Results)
	return err
}
