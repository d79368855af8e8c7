package main

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/scenarios"
)

// simTuningCmd is drover sim tuning.
type simTuningCmd struct {
	Scenario    string  `arg:"" help:"A scenario file (YAML), or one that comes with Drover: pwa, m1 to m6, pwa640, g5k1 to g5k6."`
	Seed        *uint64 `placeholder:"N" help:"Random seed. Default: the scenario's."`
	Local       string  `placeholder:"SHARE" help:"Share of the jobs that are rigid local jobs of their own site, as 2/3. Default: the scenario's."`
	Homogeneous bool    `help:"All sites have speed 1."`
}

// Run runs the scenario without reallocation, once with each way of tuning, and compares.
func (c *simTuningCmd) Run(a *app) error {
	s, err := scenarios.Load(c.Scenario)
	if err != nil {
		return err
	}
	if s.Mapping == sim.MappingNone {
		return &cmdline.UsageError{
			Message: "a scenario of mapping none, under which nothing is tuned", Hint: "mapping: mct in it",
		}
	}
	flags := simVariant{Seed: c.Seed, Local: c.Local, Homogeneous: c.Homogeneous}
	v, err := flags.variant(s)
	if err != nil {
		return err
	}
	v.Reallocation = nil // a round would make up for some of what is lost
	p, err := s.Prepare(a.ctx, c.Scenario)
	if err != nil {
		return err
	}
	begin := time.Now()
	bar := &cmdline.ProgressBar{Process: a.Process, Unit: "jobs"}
	report, cost, err := p.CompareTunings(a.ctx, v, func() time.Duration { return time.Since(begin) }, bar.Report)
	bar.Finish()
	if err != nil {
		return err
	}
	if a.flags.JSON {
		err = sim.WriteJSON(a.Stdout, report)
	} else {
		err = printTuning(a.Stdout, report)
	}
	if err != nil {
		return err
	}
	if cost.Binary == 0 {
		return nil
	}
	_, err = fmt.Fprintf(a.Stderr, "tuning each job once more took %.3f s, by binary search %.3f s: %.2f times that\n",
		cost.Exhaustive.Seconds(), cost.Binary.Seconds(), cost.Exhaustive.Seconds()/cost.Binary.Seconds())
	return err
}

// printTuning compares exhaustive tuning and binary search.
func printTuning(w io.Writer, r *sim.TuningReport) error {
	if _, err := fmt.Fprintf(w, "%d jobs were mapped, %d of them with more than one width.\n"+
		"Binary search would have completed %d of these later (%.1f%%).\n", r.Jobs, r.Moldable, r.Worse,
		100*r.WorseShare); err != nil {
		return err
	}
	times := func(f float64) string { return fmt.Sprintf("%.2f", f) }
	if r.Worse > 0 {
		t := cmdline.NewTable(w, table.Row{"these", "mean", "median", "p95", "max"}, "mean", "median", "p95", "max")
		t.AppendRow(table.Row{
			"later by", seconds(r.Later.Mean), seconds(r.Later.Median), seconds(r.Later.P95), seconds(r.Later.Max),
		})
		t.AppendRow(table.Row{
			"times as long", times(r.Ratio.Mean), times(r.Ratio.Median), times(r.Ratio.P95), times(r.Ratio.Max),
		})
		t.Render()
	}
	t := cmdline.NewTable(w, table.Row{
		"tuning", "questions", "estimates", "response mean", "wait mean", "bounded slowdown",
	},
		"questions", "estimates", "response mean", "wait mean", "bounded slowdown")
	add := func(tuning string, f *sim.TuningFigures) {
		t.AppendRow(table.Row{
			tuning, f.Questions, f.Estimates, seconds(f.ResponseMean), seconds(f.WaitMean),
			times(f.BoundedSlowdownMean),
		})
	}
	add("exhaustive", &r.Exhaustive)
	add("binary", &r.Binary)
	t.Render()
	return nil
}
