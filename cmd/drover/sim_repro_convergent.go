package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/farm"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/rows"
)

// simReproConvergentCmd is drover sim repro convergent.
type simReproConvergentCmd struct {
	Sets       []string `default:"loads,knapsack,growth,deadline,bandwidth" placeholder:"SET" help:"What to run: loads (figures 3 to 7), knapsack (table 1), growth (figure 8), deadline (what its ranges could mean), bandwidth (moving input takes time). Default: all."`
	Algorithms []string `placeholder:"NAME" help:"Run these: CS_ip, CS_inp, CS_nip, CS_ninp, BF-easy, BF-rm, BF-unrm, EDF. Settings of the policy may stand behind a name: 'CS_ip deadlineK=2'. Default: all of these, and some with 'preset=deadlines'."`
	Arrivals   []int    `placeholder:"N" help:"Mean units between submissions, of the set loads. Default: 4,6,8,10,12,16,20."`
	Seeds      int      `default:"20" placeholder:"N" help:"How often each run is repeated, with other machines and jobs. Sets that the paper does not have: at most 3."`
	Quick      bool     `help:"Of small farms, and twice each: to see that all works."`
	Results    string   `placeholder:"DIR" help:"Keep rows there; what is there is not run again. Default: --out."`
	Out        string   `default:"repro-convergent" placeholder:"DIR" help:"Write the report there: tables, figures, report.md, report.json."`
	Doc        string   `placeholder:"FILE" help:"Put the report into this page, too, between its two marks."`
	Partial    bool     `help:"Run nothing: report of the rows that there are."`
	Jobs       *int     `placeholder:"N" help:"Runs at a time. Default: one for each core."`
}

// Run runs what is not done yet, and reports.
func (c *simReproConvergentCmd) Run(a *app) error {
	workers, err := campaignWorkers(c.Jobs)
	if err != nil {
		return err
	}
	if c.Results == "" {
		c.Results = c.Out
	}
	plan, err := c.plan()
	if err != nil {
		return err
	}
	rows, costs, err := c.rows(a, plan, workers)
	if err != nil {
		return err
	}
	return c.report(a, rows, costs)
}

// report prints what was found: of the paper's algorithms with its report, of others a
// table.
func (c *simReproConvergentCmd) report(a *app, rows []farm.Row, costs []farm.Cost) error {
	if len(c.Algorithms) > 0 || len(c.Arrivals) > 0 {
		return c.print(a, rows, costs)
	}
	o := papers.ConvergentOptions{Quick: c.Quick}
	if c.Quick {
		o.Remark = "farms of a fifth, and few seeds"
	}
	r, err := papers.Convergent(rows, costs, o)
	if err != nil {
		return err
	}
	return publication{c.Out, c.Doc, papers.ConvergentBegin, papers.ConvergentEnd}.publish(a, r, func(files int) error {
		_, err := fmt.Fprintf(a.stdout, "%s\n%d files in %s\n", r.About(), files, c.Out)
		return err
	})
}

// plan returns what is to be run.
func (c *simReproConvergentCmd) plan() (*farm.Plan, error) {
	p := farm.PaperPlan()
	p.Sets, p.Seeds, p.Quick = c.Sets, c.Seeds, c.Quick
	if len(c.Algorithms) > 0 {
		p.Algorithms, p.Few = c.Algorithms, c.Algorithms
	}
	if len(c.Arrivals) > 0 {
		p.Arrivals = c.Arrivals
	}
	if p.Quick {
		p.Seeds = min(p.Seeds, 2)
	}
	if err := p.Validate(); err != nil {
		return nil, &usageError{message: err.Error(), hint: "drover sim repro convergent --help"}
	}
	return &p, nil
}

// rows returns the plan's rows, and what they took; those that the folder lacks are run.
// What is done stays there, whatever ends the rest.
func (c *simReproConvergentCmd) rows(a *app, plan *farm.Plan, workers int) (rows []farm.Row, costs []farm.Cost, err error) {
	folder, err := farm.OpenFolder(c.Results, builtFrom())
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	cases := plan.Cases()
	missing := folder.Missing(cases)
	if c.Partial {
		return folder.Rows(cases), folder.Costs(cases), nil
	}
	if by := folder.BegunBy(); by != builtFrom() {
		if _, err := fmt.Fprintf(a.stderr, "warning: %s was begun by drover %s, this is %s: remove it to begin anew if the policy has changed since\n", c.Results, by, builtFrom()); err != nil {
			return nil, nil, err
		}
	}
	bar := &simProgress{process: a.process, unit: "runs"}
	begin, finished := time.Now(), 0
	clock := func() time.Duration { return time.Since(begin) }
	stuck, err := eachOf(a.ctx, workers, missing, func(one farm.Case) (*farm.StuckError, error) {
		row, cost, err := farm.Run(a.ctx, one, farm.Options{Clock: clock})
		if stuck, ok := errors.AsType[*farm.StuckError](err); ok {
			return stuck, nil
		}
		if err == nil {
			err = folder.Add(&row, &cost)
		}
		return nil, err
	}, func(done int) {
		finished = done
		bar.report(done, len(missing))
	})
	bar.finish()
	rows, costs = folder.Rows(cases), folder.Costs(cases)
	if a.ctx.Err() != nil {
		err = a.ctx.Err() // not once for each run that it has ended
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%d of %d rows are kept in %s: %w", len(rows), len(cases), c.Results, err)
	}
	for _, s := range stuck {
		if s != nil {
			if _, err := fmt.Fprintln(a.stderr, s); err != nil {
				return nil, nil, err
			}
		}
	}
	_, err = fmt.Fprintf(a.stderr, "%d runs in %.1f s, %d were there\n", finished, time.Since(begin).Seconds(), len(cases)-len(missing))
	return rows, costs, err
}

// farmExit returns the exit code of an error of these experiments, 0 for others.
func farmExit(err error) int {
	var (
		foreign *farm.ForeignError
		locked  *rows.LockedError
		parse   *farm.ParseError
	)
	if errors.As(err, &foreign) || errors.As(err, &locked) || errors.As(err, &parse) {
		return exitRefused
	}
	return 0
}
