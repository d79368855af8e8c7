package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	policy "github.com/seed-9b8f70bb/drover/batch/policy/dynp"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/dynp"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/parallel"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// reproDynPCmd is drover-lab repro dynp.
type reproDynPCmd struct {
	Out   string `default:"repro-dynp" placeholder:"DIR" help:"Write the report there: tables, pictures, report.md, report.json, timing.json."`
	Doc   string `placeholder:"FILE" help:"Also write the report into this page, between its two marks."`
	Quick bool   `help:"Leave out most tolerances."`
	Jobs  *int   `placeholder:"N" help:"Runs at a time. Default: one for each core."`
}

// Run runs what the tables are made of, on the traces that are there, and prints
// them.
func (c *reproDynPCmd) Run(a *app) error {
	workers, err := cmdline.CampaignWorkers(c.Jobs)
	if err != nil {
		return err
	}
	r := &dynpRunner{
		app: a, workers: workers, workloads: map[string]*sim.Workload{},
		figures: map[dynp.Run]*dynp.Figures{},
	}
	if err := r.read(); err != nil {
		return err
	}
	if err := r.run(dynp.Runs(r.traces, c.Quick)); err != nil {
		return err
	}
	timing, err := r.time()
	if err != nil {
		return err
	}
	report := dynp.NewReport(r.traces, r.figures, c.Quick)
	return publication{"dynp", c.Out, c.Doc}.publish(a, timedReport{report, timing}, func(files int) error {
		_, err := fmt.Fprintf(a.Stdout, "%s\n%s%d files in %s\n", report.Markdown(2, ""), timing, files, c.Out)
		return err
	})
}

// dynpRunner makes the runs of the report.
type dynpRunner struct {
	*app
	workers   int
	traces    []dynp.Trace // that are there
	workloads map[string]*sim.Workload
	figures   map[dynp.Run]*dynp.Figures
}

// read reads the traces that are there. None is an error.
func (r *dynpRunner) read() error {
	var missing error
	for _, t := range dynp.Traces {
		path, err := swf.FindTrace(t.File)
		if err != nil {
			missing = errors.Join(missing, err)
			if _, err := fmt.Fprintf(r.Stderr, "left out: %s, %v\n", t.Name, err); err != nil {
				return err
			}
			continue
		}
		trace, err := swf.ReadFile(path)
		if err != nil {
			return err
		}
		r.traces = append(r.traces, t)
		r.workloads[t.Name] = sim.FromTrace(trace, int32(t.Procs))
	}
	if len(r.traces) == 0 {
		return missing
	}
	return nil
}

// procs returns the processors of a trace's machine.
func (r *dynpRunner) procs(trace string) int64 {
	for _, t := range r.traces {
		if t.Name == trace {
			return t.Procs
		}
	}
	return 0
}

// run makes all runs, as many at a time as there are workers.
func (r *dynpRunner) run(runs []dynp.Run) error {
	bar := &cmdline.ProgressBar{Process: r.Process, Unit: "runs"}
	defer bar.Finish()
	results, err := parallel.Map(r.ctx, r.workers, runs, func(k dynp.Run) (*dynp.Figures, error) {
		s := sim.Single{Procs: r.procs(k.Trace), Policy: "dynp", Settings: settingsOf(k)}
		result, err := s.Replay(r.ctx, r.workloads[k.Trace])
		if err != nil {
			return nil, fmt.Errorf("%s, %v: %w", k.Trace, s.Settings, err)
		}
		return figuresOf(&result.Summary), nil
	}, func(done int) { bar.Report(done, len(runs)) })
	if err != nil {
		return err
	}
	for i, k := range runs {
		r.figures[k] = results[i]
	}
	return nil
}

// settingsOf returns a run's settings as --set has them.
func settingsOf(k dynp.Run) batch.Settings {
	s := batch.Settings{
		"policies": k.Policies, "decider": k.Decider, "metric": k.Metric, "equal": k.Equal,
		"tuning": "full", "list": "own",
	}
	if k.Half {
		s["tuning"] = "half"
	}
	if k.Shared {
		s["list"] = "shared"
	}
	return s
}

func figuresOf(s *sim.Summary) *dynp.Figures {
	f := &dynp.Figures{Jobs: s.Jobs, SLDwA: s.SlowdownAreaWeighted, Utilization: s.Utilization, Steps: s.Steps}
	for _, p := range s.Policies {
		f.Policies = append(f.Policies, dynp.Policy{Name: p.Name, Switches: p.Switches, Started: p.Started})
	}
	for _, c := range s.Cases {
		f.Cases = append(f.Cases, dynp.Case(c))
	}
	return f
}

// dynpTiming is what self-tuning steps cost on this machine: timing.json.
type dynpTiming struct {
	Schema string         `json:"schema"`
	Steps  []dynpStepTime `json:"steps"`
}

// dynpStepTime is the mean over all steps of a trace, under the settings that the
// paper's 6 ms with 22.5 waiting jobs are of: advanced, full, ARTwW.
type dynpStepTime struct {
	Trace        string  `json:"trace"`
	Steps        int     `json:"steps"`
	Waiting      float64 `json:"waiting"`      // jobs, on average
	Microseconds float64 `json:"microseconds"` // of the whole scheduling pass
}

// The paper's.
const (
	paperStep    = 6000. // microseconds
	paperWaiting = 22.5
)

// timed is dynP with a stopwatch for the passes that have a self-tuning step.
type timed struct {
	*policy.Policy
	steps, waiting int
	spent          time.Duration
}

// Decide is batch.Policy's.
func (t *timed) Decide(now batch.Time, out *batch.Decisions) {
	waiting, before := t.Queue.Len(), t.Steps()
	begin := time.Now()
	t.Policy.Decide(now, out)
	if spent := time.Since(begin); t.Steps() > before {
		t.steps++
		t.waiting += waiting
		t.spent += spent
	}
}

// time replays each trace once more, nothing beside it.
func (r *dynpRunner) time() (*dynpTiming, error) {
	all := &dynpTiming{Schema: "drover.sim.repro-dynp-timing/1"}
	for _, trace := range r.traces {
		p, err := policy.New(batch.Processors(int32(trace.Procs)), batch.Settings{"metric": "ARTwW"})
		if err != nil {
			return nil, err
		}
		watch := &timed{Policy: p.(*policy.Policy)}
		if _, err := (&sim.Cluster{Policy: watch}).Run(r.ctx, r.workloads[trace.Name]); err != nil {
			return nil, err
		}
		n := float64(max(watch.steps, 1))
		all.Steps = append(all.Steps, dynpStepTime{
			Trace: trace.Name, Steps: watch.steps, Waiting: float64(watch.waiting) / n,
			Microseconds: float64(watch.spent.Microseconds()) / n,
		})
	}
	return all, nil
}

// String has a line for each trace.
func (t *dynpTiming) String() string {
	var b strings.Builder
	for _, s := range t.Steps {
		fmt.Fprintf(&b, "a self-tuning step on %s: %.1f µs with %.1f waiting jobs on average, over %d steps (paper, "+
			"CTC: "+
			"%.0f µs with %.1f; %.0f times as long)\n",
			s.Trace, s.Microseconds, s.Waiting, s.Steps, paperStep, paperWaiting, paperStep/max(s.Microseconds, 0.1))
	}
	return b.String()
}

// timedReport is a report with one more file, the cost of the steps, which differs from
// run to run.
type timedReport struct {
	*dynp.Report
	timing *dynpTiming
}

// Write writes the files of the report, and that one.
func (r timedReport) Write(dir string) ([]string, error) {
	names, err := r.Report.Write(dir)
	if err != nil {
		return nil, err
	}
	return append(names, "timing.json"), r.timing.write(dir)
}

func (t *dynpTiming) write(dir string) error {
	var out bytes.Buffer
	if err := sim.WriteJSON(&out, t); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "timing.json"), out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}
