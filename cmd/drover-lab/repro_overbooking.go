package main

import (
	"fmt"
	"strings"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/overbooking"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/overbooking/sla"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/parallel"
)

// reproOverbookingCmd is drover-lab repro overbooking.
type reproOverbookingCmd struct {
	Out   string   `default:"repro-overbooking" placeholder:"DIR" help:"Write the report there: tables, pictures, rows.csv, report.md, report.json."`
	Doc   string   `placeholder:"FILE" help:"Also write the report into this page, between its two marks."`
	Quick bool     `help:"The first 4000 jobs of each log, one seed, one slack, and few maxPoF."`
	Seeds []uint64 `placeholder:"S" help:"Seeds that windows are drawn from. Default: 1,2."`
	Jobs  *int     `placeholder:"N" help:"Runs at a time. Default: one for each core."`
}

// Run sells the time of the machines of the logs that are there, and reports.
func (c *reproOverbookingCmd) Run(a *app) error {
	workers, err := cmdline.CampaignWorkers(c.Jobs)
	if err != nil {
		return err
	}
	plan, remark := sla.Full, ""
	if c.Quick {
		plan = sla.Quick
		remark = fmt.Sprintf("the first %d jobs of each log", plan.Jobs)
	}
	if len(c.Seeds) > 0 {
		plan.Seeds = c.Seeds
	}
	missing, err := plan.Load(sla.Traces)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		if _, err := fmt.Fprintf(a.Stderr, "left out, because they are not there: %s\n",
			strings.Join(missing, ", ")); err != nil {
			return err
		}
	}
	cases := plan.Cases()
	bar := &cmdline.ProgressBar{Process: a.Process, Unit: "runs"}
	rows, err := parallel.Map(a.ctx, workers, cases, func(k sla.Case) (sla.Row, error) { return k.Run(a.ctx) },
		func(done int) { bar.Report(done, len(cases)) })
	bar.Finish()
	if err != nil {
		return err
	}
	r, err := overbooking.NewReport(rows, remark)
	if err != nil {
		return err
	}
	return c.report(a, r)
}

func (c *reproOverbookingCmd) report(a *app, r *overbooking.Report) error {
	return publication{"overbooking", c.Out, c.Doc}.publish(a, r, func(files int) error {
		_, err := fmt.Fprintf(a.Stdout, "%s\n%s\n%d files in %s\n", r.About(), strings.Join(r.Says(), "\n"), files,
			c.Out)
		return err
	})
}
