package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/convergent/farm"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

// reproConvergentCmd is drover-lab repro convergent.
type reproConvergentCmd struct {
	Sets       []string `default:"loads,knapsack,growth,deadline,bandwidth" placeholder:"SET" help:"What to run: loads (figures 3 to 7), knapsack (table 1), growth (figure 8), deadline (what its ranges could mean), bandwidth (moving input takes time). Default: all."`
	Algorithms []string `placeholder:"NAME" help:"Run these: CS_ip, CS_inp, CS_nip, CS_ninp, BF-easy, BF-rm, BF-unrm, EDF. Settings of the policy can follow a name: 'CS_ip deadlineK=2'. Default: all of these, and some with 'preset=deadlines'."`
	Arrivals   []int    `placeholder:"N" help:"Mean units between submissions, of the set loads. Default: 4,6,8,10,12,16,20."`
	Seeds      int      `default:"20" placeholder:"N" help:"How often each run is repeated, with other machines and jobs. Sets that the paper does not have: at most 3."`
	Quick      bool     `help:"Run small farms, twice each, to see that it works."`
	Results    string   `placeholder:"DIR" help:"Folder of the rows; finished runs are not run again. Default: --out."`
	Out        string   `default:"repro-convergent" placeholder:"DIR" help:"Write the report there: tables, figures, report.md, report.json."`
	Doc        string   `placeholder:"FILE" help:"Also write the report into this page, between its two marks."`
	Partial    bool     `help:"Run nothing: report the rows there are."`
	Jobs       *int     `placeholder:"N" help:"Runs at a time. Default: one for each core."`
}

// Run runs what is not done yet, and reports.
func (c *reproConvergentCmd) Run(a *app) error {
	workers, err := cmdline.CampaignWorkers(c.Jobs)
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
func (c *reproConvergentCmd) report(a *app, rows []farm.Row, costs []farm.Cost) error {
	if len(c.Algorithms) > 0 || len(c.Arrivals) > 0 {
		return c.print(a, rows, costs)
	}
	o := convergent.Options{Quick: c.Quick}
	if c.Quick {
		o.Remark = "farms of a fifth, and few seeds"
	}
	r, err := convergent.NewReport(rows, costs, o)
	if err != nil {
		return err
	}
	return publication{"convergent", c.Out, c.Doc}.publish(a, r, func(files int) error {
		_, err := fmt.Fprintf(a.Stdout, "%s\n%d files in %s\n", r.About(), files, c.Out)
		return err
	})
}

// plan returns what is to be run.
func (c *reproConvergentCmd) plan() (*farm.Plan, error) {
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
		return nil, &cmdline.UsageError{Message: err.Error(), Hint: "drover-lab repro convergent --help"}
	}
	return &p, nil
}

// rows returns the plan's rows, and what they took; those that the folder lacks are run.
// What is done stays there, whatever ends the rest.
func (c *reproConvergentCmd) rows(
	a *app, plan *farm.Plan, workers int,
) (rows []farm.Row, costs []farm.Cost, err error) {
	folder, err := farm.OpenFolder(c.Results, cmdline.BuiltFrom())
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	cases := plan.Cases()
	if !c.Partial {
		begin := time.Now()
		r := experiment[farm.Case]{
			folder: c.Results, begunBy: folder.BegunBy(), cases: cases, has: folder.Has,
			do: func(one farm.Case) error {
				row, cost, err := farm.Run(a.ctx, one, farm.Options{Clock: func() time.Duration {
					return time.Since(begin)
				}})
				if err != nil {
					return err
				}
				return folder.Add(&row, &cost)
			},
		}
		stuck := func(err error) bool { return errors.As(err, new(*farm.StuckError)) }
		if err := r.missing(a, workers, stuck); err != nil {
			return nil, nil, err
		}
	}
	rows, costs = folder.Rows(cases)
	return rows, costs, nil
}

// print prints a line for each case, as the mean of its seeds.
func (c *reproConvergentCmd) print(a *app, rows []farm.Row, costs []farm.Cost) error {
	columns := []string{
		"machines", "jobs", "inter-arrival", "runs", "late %", "hopeless %", "slowdown", "machines %",
		"licenses %", "preemptions", "ms a plan", "median",
	}
	t := cmdline.NewTable(a.Stdout, append(table.Row{"set", "algorithm"}, row(columns...)...), columns...)
	for i := 0; i < len(rows); {
		n := alike(rows[i:])
		var late, hopeless, slowdown, machines, licenses, preempted, plan, median float64
		for k := i; k < i+n; k++ {
			r := &rows[k]
			late, hopeless = late+r.LatePercent(), hopeless+r.HopelessPercent()
			slowdown += r.Slowdown
			machines, licenses = machines+100*r.MachineUsage, licenses+100*r.LicenseUsage
			preempted += float64(r.Preemptions)
			plan, median = plan+1000*costs[k].Plan(), median+1000*costs[k].Median
		}
		r, of := &rows[i], float64(n)
		mean := func(digits int, sum float64) string { return fmt.Sprintf("%.*f", digits, sum/of) }
		t.AppendRow(row(variant(&r.Case), r.Algorithm, fmt.Sprint(r.Machines), fmt.Sprint(r.Case.Jobs),
			fmt.Sprint(r.Arrival), fmt.Sprint(n),
			mean(1, late), mean(1, hopeless), mean(2, slowdown), mean(1, machines), mean(1, licenses), mean(0,
				preempted), mean(3, plan), mean(3, median)))
		i += n
	}
	t.Render()
	_, err := fmt.Fprintf(a.Stdout, "%d rows in %s\n", len(rows), c.Results)
	return err
}

// alike returns how many of the first rows are of one case but for the seed. Rows are in
// order.
func alike(rows []farm.Row) int {
	n := 0
	for n < len(rows) {
		c := rows[n].Case
		if c.Seed = rows[0].Seed; c != rows[0].Case {
			break
		}
		n++
	}
	return n
}

// variant names a set with what its cases differ in.
func variant(c *farm.Case) string {
	switch c.Set {
	case farm.Deadlines:
		return c.Set + " " + string(c.Reading)
	case farm.Bandwidths:
		return fmt.Sprintf("%s %d MB", c.Set, c.Rate)
	case farm.Knapsacks:
		return fmt.Sprintf("%s %d..%d%%", c.Set, c.Ratio.Low, c.Ratio.High)
	}
	return c.Set
}
