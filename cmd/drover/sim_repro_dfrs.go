package main

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/fractional"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/rows"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// simReproDFRSCmd is drover sim repro dfrs.
type simReproDFRSCmd struct {
	Sets       []string        `default:"hpc2n,unscaled,scaled,hpc2n-whole" placeholder:"SET" help:"Workloads: hpc2n (182 weeks of the log), unscaled (100 by the model), scaled (900, loads 0.1 to 0.9), hpc2n-whole (the log in one piece, for table 4). Default: all."`
	Tables     []string        `default:"2,3,4,5,figures" placeholder:"T" help:"What to run for: 2, 3, 4, 5, figures. Default: all."`
	Algorithms []string        `placeholder:"NAME" help:"Run these instead: FCFS, EASY, or names as the paper has them, GreedyPM*/per/opt=min/minvt=600. Settings of the policy may stand behind a name: 'NAME decay=1h'."`
	Periods    []time.Duration `default:"600s" placeholder:"D" help:"Periods of --algorithms. Default: 600s, the paper's."`
	Penalty    time.Duration   `default:"300s" placeholder:"D" help:"For how long a job that is resumed or moved does nothing."`
	Beyond     bool            `help:"The recommended algorithm with what the paper does not have, too."`
	Quick      bool            `help:"A few workloads of each set."`
	Results    string          `placeholder:"DIR" help:"Keep rows there; what is there is not run again. Default: --out."`
	Out        string          `default:"repro-dfrs" placeholder:"DIR" help:"Write the report there: tables, figures, report.md, report.json."`
	Doc        string          `placeholder:"FILE" help:"Put the report into this page, too, between its two marks."`
	Jobs       *int            `placeholder:"N" help:"Runs at a time. Default: one for each core."`
	States     string          `hidden:"" placeholder:"FILE" help:"Run nothing but write states that MCB8 meets on unscaled workloads there, for its benchmark."`
}

// Run runs what is not done yet, and reports.
func (c *simReproDFRSCmd) Run(a *app) error {
	workers, err := campaignWorkers(c.Jobs)
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
		if err := warnOfThrashing(a, d, plan.Penalty); err != nil {
			return err
		}
	}
	rows, err := c.rows(a, plan, workers)
	if err != nil {
		return err
	}
	return c.report(a, rows)
}

// warnOfThrashing says why a period is a bad one.
func warnOfThrashing(a *app, period, penalty batch.Duration) error {
	_, err := fmt.Fprintf(a.stderr, "warning: a period of %v is no longer than the penalty of %v: jobs that are moved in every period never get on (the paper's section 6.4.2)\n", period, penalty)
	return err
}

// dfrsPeriod returns the period of the policy dfrs, false if it does nothing
// periodically. The settings are valid.
func dfrsPeriod(policy string, s batch.Settings) (batch.Duration, bool) {
	if policy != "dfrs" {
		return 0, false
	}
	algorithm, period := fractional.Default, fractional.Recommended
	if v, ok := s["algorithm"]; ok {
		algorithm = v
	}
	if d, err := time.ParseDuration(s["period"]); err == nil {
		period = batch.Duration(d / time.Microsecond)
	}
	return period, fractional.Periodic(algorithm)
}

// states writes what a benchmark of MCB8 packs.
func (c *simReproDFRSCmd) states(a *app) error {
	file, err := os.Create(c.States)
	if err != nil {
		return fmt.Errorf("--states: %w", err)
	}
	packed, _ := gzip.NewWriterLevel(file, gzip.BestCompression) // the level is right
	met, written, err := fractional.WriteStates(a.ctx, packed)
	if err := errors.Join(err, packed.Close(), file.Close()); err != nil {
		return fmt.Errorf("--states: %w", err)
	}
	_, err = fmt.Fprintf(a.stdout, "%d states of %d in %s\n", written, met, c.States)
	return err
}

// plan returns what is to be run.
func (c *simReproDFRSCmd) plan() (*fractional.Plan, error) {
	p := &fractional.Plan{Sets: c.Sets, Parts: c.Tables, Algorithms: c.Algorithms, Beyond: c.Beyond, Quick: c.Quick}
	if c.Penalty < 0 || c.Penalty%time.Microsecond != 0 {
		return nil, &usageError{message: fmt.Sprintf("--penalty: %v, accepted: 0s or more, in whole microseconds", c.Penalty)}
	}
	p.Penalty = batch.Duration(c.Penalty / time.Microsecond)
	for _, d := range c.Periods {
		if d < time.Second || d%time.Microsecond != 0 {
			return nil, &usageError{message: fmt.Sprintf("--periods: %v, accepted: 1s or more, in whole microseconds", d)}
		}
		p.Periods = append(p.Periods, batch.Duration(d/time.Microsecond))
	}
	if err := p.Validate(); err != nil {
		return nil, &usageError{message: err.Error(), hint: "drover sim repro dfrs --help"}
	}
	return p, nil
}

// rows returns the plan's rows; those that the folder lacks are run. What is done stays
// there, whatever ends the rest.
func (c *simReproDFRSCmd) rows(a *app, plan *fractional.Plan, workers int) (rows []fractional.Row, err error) {
	all, err := plan.Load(a.ctx)
	if absent, ok := errors.AsType[*swf.TraceNotFoundError](err); ok && plan.WithoutLog() {
		if _, err := fmt.Fprintf(a.stderr, "left out: HPC2N, %v\n", absent); err != nil {
			return nil, err
		}
		all, err = plan.Load(a.ctx)
	}
	if err != nil {
		return nil, err
	}
	folder, err := fractional.OpenFolder(c.Results, plan.Penalty, all.Digest, builtFrom())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	tasks := plan.Tasks(all)
	missing := folder.Missing(tasks)
	if by := folder.BegunBy(); by != builtFrom() {
		if _, err := fmt.Fprintf(a.stderr, "warning: %s was begun by drover %s, this is %s: remove it to begin anew if the policy has changed since\n", c.Results, by, builtFrom()); err != nil {
			return nil, err
		}
	}
	bar := &simProgress{process: a.process, unit: "runs"}
	begin, finished := time.Now(), 0
	stuck, err := eachOf(a.ctx, workers, missing, func(t fractional.Task) (*fractional.StuckError, error) {
		known, _ := folder.Bound(t.Instance)
		begin := time.Now()
		row, err := t.Run(a.ctx, known, fractional.Options{})
		if stuck, ok := errors.AsType[*fractional.StuckError](err); ok {
			return stuck, nil
		}
		if err == nil {
			err = folder.Add(&row, time.Since(begin).Seconds())
		}
		return nil, err
	}, func(done int) {
		finished = done
		bar.report(done, len(missing))
	})
	bar.finish()
	rows = folder.Rows(tasks)
	if a.ctx.Err() != nil {
		err = a.ctx.Err() // not once for each run that it has ended
	}
	if err != nil {
		return nil, fmt.Errorf("%d of %d rows are kept in %s: %w", len(rows), len(tasks), c.Results, err)
	}
	for _, s := range stuck {
		if s != nil {
			if _, err := fmt.Fprintln(a.stderr, s); err != nil {
				return nil, err
			}
		}
	}
	_, err = fmt.Fprintf(a.stderr, "%d runs in %.1f s, %d were there\n", finished, time.Since(begin).Seconds(), len(tasks)-len(missing))
	return rows, err
}

// report prints what was found: of the whole experiment with its report, of other
// algorithms a table.
func (c *simReproDFRSCmd) report(a *app, rows []fractional.Row) error {
	if len(c.Algorithms) > 0 {
		return c.print(a, rows)
	}
	remark := ""
	if c.Quick {
		remark = "a few workloads of each set"
	}
	r, err := papers.DFRS(rows, remark)
	if err != nil {
		return err
	}
	return publication{c.Out, c.Doc, papers.DFRSBegin, papers.DFRSEnd}.publish(a, r, func(files int) error {
		_, err := fmt.Fprintf(a.stdout, "%s\n%d files in %s\n", r.About(), files, c.Out)
		return err
	})
}

// dfrsExit returns the exit code of an error of these experiments, 0 for others.
func dfrsExit(err error) int {
	var (
		mismatch *fractional.MismatchError
		locked   *rows.LockedError
		parse    *fractional.ParseError
		torn     *csv.ParseError
		job      *fractional.JobError
	)
	if errors.As(err, &mismatch) || errors.As(err, &locked) || errors.As(err, &parse) || errors.As(err, &torn) || errors.As(err, &job) {
		return exitRefused
	}
	return 0
}
