package main

import (
	"fmt"
	"io"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/rusage"
	"github.com/seed-9b8f70bb/drover/sim"
)

// simCmd is drover sim.
type simCmd struct {
	Run      simRunCmd      `cmd:"" help:"Replay recorded workloads: one cluster, or a scenario of several sites."`
	Generate simGenerateCmd `cmd:"" help:"Make a workload by the model of Lublin and Feitelson."`
	Campaign simCampaignCmd `cmd:"" help:"Run many experiments: scenarios, seeds and ways to reallocate, combined."`
	Tuning   simTuningCmd   `cmd:"" help:"Replay a scenario without rounds, and say how much is lost where widths are found by binary search."`
	Faults   simFaultsCmd   `cmd:"" help:"Let everything fail in a small grid, and see that no job is lost or run twice."`
}

// simRunCmd is drover sim run.
type simRunCmd struct {
	Scenario string            `arg:"" optional:"" help:"A scenario file (YAML): several sites, each with its trace, width, speed and policy. Or one that comes with Drover: pwa, m1 to m6, pwa640, g5k1 to g5k6."`
	SWF      string            `name:"swf" placeholder:"FILE" help:"A trace in the Standard Workload Format, gz too: a path, or a name in DROVER_TRACES."`
	Procs    int64             `placeholder:"N" help:"Processors of the cluster."`
	Policy   string            `placeholder:"NAME" complete:"policy" help:"The scheduling policy: ${policies}."`
	Node     int64             `placeholder:"N" help:"Processors of each machine, under a policy that gives each machine to one job (${machine_policies}). Default: 1."`
	Set      map[string]string `placeholder:"KEY=VALUE" help:"A setting of the policy; repeatable."`
	Overrun  string            `default:"kill" help:"What becomes of a job at its walltime: kill or extend."`
	Passes   string            `default:"instant" help:"A scheduling pass for each instant (instant), or for each event as some other simulators do (event; ${queue_policies})."`
	Penalty  time.Duration     `placeholder:"D" help:"For how long a job that is resumed or moved does nothing. The policy does not know. Default: 0s."`
	Out      string            `placeholder:"DIR" help:"Write summary.json, timing.json and jobs.csv there."`

	simVariant `embed:""`
}

// Run replays the workload and prints the summary.
func (c *simRunCmd) Run(a *app) error {
	begin := time.Now()
	bar := &cmdline.ProgressBar{Process: a.Process, Unit: "jobs"}
	result, err := c.simulate(a, bar)
	bar.Finish()
	if err != nil {
		return err
	}
	timing := sim.NewTiming(result.Summary.Jobs, time.Since(begin), rusage.PeakMemory())
	if c.Out != "" {
		if err := result.WriteFiles(c.Out, timing); err != nil {
			return err
		}
	}
	if a.flags.JSON {
		err = sim.WriteJSON(a.Stdout, result.Summary)
	} else {
		err = printSummary(a.Stdout, &result.Summary)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stderr, "%d jobs in %.3f s: %.0f jobs/s, peak memory %.0f MiB\n",
		result.Summary.Jobs, timing.WallSeconds, timing.JobsPerSecond, float64(timing.PeakMemory)/(1<<20))
	return err
}

// givenSettings returns settings as policies read them: they know Go's durations only.
func givenSettings(given map[string]string) batch.Settings {
	settings := make(batch.Settings, len(given))
	for key, value := range given {
		if d, ok := cmdline.ParseClock(value); ok {
			value = d.String()
		}
		settings[key] = value
	}
	return settings
}

func (c *simRunCmd) simulate(a *app, bar *cmdline.ProgressBar) (*sim.Result, error) {
	if c.Scenario != "" {
		if c.SWF != "" || c.Procs != 0 || c.Policy != "" || c.Node != 0 || len(c.Set) > 0 || c.Overrun != "kill" || c.Passes != "instant" || c.Penalty != 0 {
			return nil, &cmdline.UsageError{
				Message: "both a scenario and --swf, --procs, --policy, --node, --set, --overrun, --passes or --penalty",
				Hint:    "a scenario names its own traces, policies and rules",
			}
		}
		return c.scenario(a, bar)
	}
	if c.given() {
		return nil, &cmdline.UsageError{
			Message: "--seed, --local, --homogeneous or --compare without a scenario", Hint: "drover sim run pwa --compare",
		}
	}
	if c.SWF == "" {
		return nil, &cmdline.UsageError{Message: "nothing to replay", Hint: "drover sim run --swf FILE --procs N --policy NAME, or drover sim run SCENARIO.yaml"}
	}
	overrun, err := sim.ParseOverrun(c.Overrun)
	if err != nil {
		return nil, &cmdline.UsageError{Message: "--" + err.Error()}
	}
	if c.Passes != "instant" && c.Passes != "event" {
		return nil, &cmdline.UsageError{Message: fmt.Sprintf("--passes: %q, accepted: instant, event", c.Passes)}
	}
	s := &sim.Single{
		Trace: c.SWF, Procs: c.Procs, Policy: c.Policy, Node: c.Node, Settings: givenSettings(c.Set), Overrun: overrun,
		PassEachEvent: c.Passes == "event", Penalty: batch.Duration(c.Penalty / time.Microsecond), Places: c.Out != "", Progress: bar.Report,
	}
	if err := s.Validate(); err != nil {
		return nil, &cmdline.UsageError{Message: err.Error(), Hint: "drover sim run --help"}
	}
	if period, ok := dfrs.PeriodOf(s.Settings); ok && c.Policy == "dfrs" && s.Penalty > 0 && period <= s.Penalty {
		if _, err := fmt.Fprintln(a.Stderr, dfrs.ThrashingWarning(period, s.Penalty)); err != nil {
			return nil, err
		}
	}
	return s.Run(a.ctx)
}

// printSummary prints the figures that people look at first.
func printSummary(w io.Writer, s *sim.Summary) error {
	if n := s.Rejected.Total(); n > 0 {
		if _, err := fmt.Fprintf(w, "left out: %d jobs (unknown runtime %d, no width %d, too wide %d)\n",
			n, s.Rejected.UnknownRuntime, s.Rejected.NoWidth, s.Rejected.TooWide); err != nil {
			return err
		}
	}
	columns := []string{"jobs", "killed", "utilization", "wait mean", "median", "p95", "response mean", "bounded slowdown", "area-weighted", "makespan"}
	t := cmdline.NewTable(w, row("site", "policy", columns...), columns...)
	add := func(name, policy string, f *sim.Figures) {
		t.AppendRow(row(name, policy, fmt.Sprint(f.Jobs), fmt.Sprint(f.Killed), fmt.Sprintf("%.4f", f.Utilization),
			seconds(f.WaitMean), seconds(f.WaitMedian), seconds(f.WaitP95), seconds(f.ResponseMean),
			fmt.Sprintf("%.2f", f.BoundedSlowdownMean), fmt.Sprintf("%.2f", f.SlowdownAreaWeighted), seconds(f.Makespan)))
	}
	for i := range s.Sites {
		add(s.Sites[i].Name, s.Sites[i].Policy, &s.Sites[i].Figures)
	}
	if len(s.Sites) > 1 {
		add("all", "", &s.Figures)
	}
	if s.Grid != nil {
		add("grid jobs", "", s.Grid)
	}
	t.Render()
	for i := range s.Sites {
		if err := printSelfTuning(w, &s.Sites[i]); err != nil {
			return err
		}
	}
	if r := s.Reallocation; r != nil {
		if _, err := fmt.Fprintf(w, "reallocation (%s, %s): %d rounds, %d moves of %d jobs, %d estimates in %d questions, put back later %d times, kept %d times\n",
			r.Algorithm, r.Heuristic, r.Rounds, r.Moves, r.Moved, r.Estimates, r.Questions, r.Later, r.Kept); err != nil {
			return err
		}
	}
	if s.Comparison != nil {
		return printComparison(w, s.Comparison)
	}
	return nil
}

func row(name, policy string, cells ...string) []any {
	r := []any{name, policy}
	for _, c := range cells {
		r = append(r, c)
	}
	return r
}

func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }
