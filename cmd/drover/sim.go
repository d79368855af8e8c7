package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/policy/dfrs"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/rusage"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/scenarios"
)

// simCmd is drover sim.
type simCmd struct {
	Run      simRunCmd      `cmd:"" help:"Replay recorded workloads: one cluster, or a scenario of several sites."`
	Generate simGenerateCmd `cmd:"" help:"Generate a workload with the model of Lublin and Feitelson."`
	Campaign simCampaignCmd `cmd:"" help:"Run many experiments: scenarios, seeds and ways to reallocate, combined."`
	Tuning   simTuningCmd   `cmd:"" help:"Compare exhaustive and binary search for widths in a scenario."`
	Faults   simFaultsCmd   `cmd:"" help:"Simulate failures in a small grid, and check that no job is lost or runs twice."`
}

// simRunCmd is drover sim run.
type simRunCmd struct {
	Scenario string            `arg:"" optional:"" help:"A scenario file (YAML): several sites, each with its trace, width, speed and policy. Or one that comes with Drover: pwa, m1 to m6, pwa640, g5k1 to g5k6."`
	SWF      string            `name:"swf" placeholder:"FILE" help:"A trace in the Standard Workload Format, gz too: a path, or a name in DROVER_TRACES."`
	Procs    int64             `placeholder:"N" help:"Processors of the cluster."`
	Policy   string            `placeholder:"NAME" complete:"policy" help:"The scheduling policy: ${policies}."`
	Node     int64             `placeholder:"N" help:"Processors of each machine, under a policy that gives each machine to one job (${machine_policies}). Default: 1."`
	Set      map[string]string `placeholder:"KEY=VALUE" help:"A setting of the policy; repeatable."`
	Overrun  string            `default:"kill" help:"What to do with a job at its walltime: kill or extend."`
	Passes   string            `default:"instant" help:"Run a scheduling pass per instant (instant) or, as some other simulators, per event (event; ${queue_policies})."`
	Penalty  time.Duration     `placeholder:"D" help:"Time that a job loses when it is resumed or migrated, unknown to the policy. Default: 0s."`
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

// givenSettings returns the settings with durations in Go's form, which policies read.
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
		if c.SWF != "" || c.Procs != 0 || c.Policy != "" || c.Node != 0 || len(c.Set) > 0 || c.Overrun != "kill" ||
			c.Passes != "instant" || c.Penalty != 0 {
			return nil, &cmdline.UsageError{
				Message: "both a scenario and --swf, --procs, --policy, --node, --set, --overrun, --passes or " +
					"--penalty",
				Hint: "a scenario names its own traces, policies and rules",
			}
		}
		return c.scenario(a, bar)
	}
	if c.given() {
		return nil, &cmdline.UsageError{
			Message: "--seed, --local, --homogeneous or --compare without a scenario",
			Hint:    "drover sim run pwa --compare",
		}
	}
	if c.SWF == "" {
		return nil, &cmdline.UsageError{
			Message: "nothing to replay",
			Hint:    "drover sim run --swf FILE --procs N --policy NAME, or drover sim run SCENARIO.yaml",
		}
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
		PassEachEvent: c.Passes == "event", Penalty: batch.Duration(c.Penalty / time.Microsecond), Places: c.Out != "",
		Progress: bar.Report,
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

// printSummary prints the main figures.
func printSummary(w io.Writer, s *sim.Summary) error {
	if n := s.Rejected.Total(); n > 0 {
		if _, err := fmt.Fprintf(w, "left out: %d jobs (unknown runtime %d, no width %d, too wide %d)\n",
			n, s.Rejected.UnknownRuntime, s.Rejected.NoWidth, s.Rejected.TooWide); err != nil {
			return err
		}
	}
	columns := []string{
		"jobs", "killed", "utilization", "wait mean", "median", "p95", "response mean", "bounded slowdown",
		"area-weighted", "makespan",
	}
	t := cmdline.NewTable(w, row("site", "policy", columns...), columns...)
	add := func(name, policy string, f *sim.Figures) {
		t.AppendRow(row(name, policy, fmt.Sprint(f.Jobs), fmt.Sprint(f.Killed), fmt.Sprintf("%.4f", f.Utilization),
			seconds(f.WaitMean), seconds(f.WaitMedian), seconds(f.WaitP95), seconds(f.ResponseMean),
			fmt.Sprintf("%.2f", f.BoundedSlowdownMean), fmt.Sprintf("%.2f", f.SlowdownAreaWeighted),
			seconds(f.Makespan)))
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
		if _, err := fmt.Fprintf(w,
			"reallocation (%s, %s): %d rounds, %d moves of %d jobs, %d estimates in %d questions, put back later %d "+
				"times, kept %d times\n",
			r.Algorithm, r.Heuristic, r.Rounds, r.Moves, r.Moved, r.Estimates, r.Questions, r.Later,
			r.Kept); err != nil {
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

// simVariant holds the flags that change a scenario.
type simVariant struct {
	Seed        *uint64 `placeholder:"N" help:"Random seed of a scenario: for the types of moldable jobs and the choice of local users. Default: the scenario's."`
	Local       string  `placeholder:"SHARE" help:"Share of a scenario's jobs that are rigid local jobs of their own site, as 2/3. Default: the scenario's."`
	Homogeneous bool    `help:"Run a scenario with speed 1 at all sites."`
	Compare     bool    `help:"Also run a scenario without its reallocation, and compare."`
}

func (v *simVariant) given() bool {
	return v.Seed != nil || v.Local != "" || v.Homogeneous || v.Compare
}

// variant returns the scenario's variant, overridden by flags.
func (v *simVariant) variant(s *sim.Scenario) (sim.Variant, error) {
	out := s.Variant()
	out.Homogeneous = v.Homogeneous
	if v.Seed != nil {
		out.Seed = *v.Seed
	}
	if v.Local != "" {
		share, err := sim.ParseFraction(v.Local)
		if err != nil {
			return out, &cmdline.UsageError{Message: "--local: " + err.Error()}
		}
		if out.Local = share; s.Mapping == sim.MappingNone && !share.IsZero() {
			return out, &cmdline.UsageError{Message: "--local with mapping none, accepted: with mapping mct"}
		}
	}
	if v.Compare && out.Reallocation == nil {
		return out, &cmdline.UsageError{
			Message: "--compare of a scenario without reallocation",
			Hint:    "reallocation: {} in it is that of the paper",
		}
	}
	return out, nil
}

// scenario runs a scenario, and with --compare its reference.
func (c *simRunCmd) scenario(a *app, bar *cmdline.ProgressBar) (*sim.Result, error) {
	s, err := scenarios.Load(c.Scenario)
	if err != nil {
		return nil, err
	}
	v, err := c.variant(s)
	if err != nil {
		return nil, err
	}
	s.Places = c.Out != ""
	p, err := s.Prepare(a.ctx, c.Scenario)
	if err != nil {
		return nil, err
	}
	result, err := p.Run(a.ctx, v, bar.Report)
	if err != nil || !c.Compare {
		return result, err
	}
	v.Reallocation = nil
	reference, err := p.Run(a.ctx, v, bar.Report)
	if err != nil {
		return nil, err
	}
	comparison, err := sim.Compare(reference, result)
	if err != nil {
		return nil, err
	}
	result.Summary.Comparison = &comparison
	return result, nil
}

// printComparison prints the effect of reallocation.
func printComparison(w io.Writer, c *sim.Comparison) error {
	percent := func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
	if _, err := fmt.Fprintf(w, "compared with no reallocation, of %d grid jobs: %d impacted (%s), %s of them early, "+
		"their response %s of what it was; %d reallocations (%s)\n",
		c.GridJobs, c.Impacted, percent(c.ImpactedShare), percent(c.EarlyShare), percent(c.RelativeResponse),
		c.Reallocations, percent(c.ReallocationsShare)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "all grid jobs: response %s (without: %s), wait %s (%s), bounded slowdown %.2f (%.2f)\n",
		seconds(c.ResponseMean), seconds(c.ResponseReference), seconds(c.WaitMean), seconds(c.WaitReference),
		c.BoundedSlowdownMean, c.BoundedSlowdownReference)
	return err
}

// printSelfTuning prints how often a self-tuning policy has switched.
func printSelfTuning(w io.Writer, s *sim.SiteSummary) error {
	t := s.SelfTuning
	if t == nil {
		return nil
	}
	shares := make([]string, 0, len(t.Policies))
	for _, p := range t.Policies {
		shares = append(shares, fmt.Sprintf("%s %.1f%%", p.Name, 100*p.Share))
	}
	_, err := fmt.Fprintf(w, "%s: %d self-tuning steps, %d policy switches; jobs started by %s\n", s.Name, t.Steps,
		t.Switches, strings.Join(shares, ", "))
	return err
}
