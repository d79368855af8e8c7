package main

import (
	"errors"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// simReproDynPCmd is drover sim repro dynp.
type simReproDynPCmd struct {
	Out   string `default:"repro-dynp" placeholder:"DIR" help:"Write the report there: tables, pictures, report.md, report.json, timing.json."`
	Doc   string `placeholder:"FILE" help:"Put the report into this page, too, between its two marks."`
	Quick bool   `help:"Leave out most tolerances."`
	Jobs  *int   `placeholder:"N" help:"Runs at a time. Default: one for each core."`
}

// Run runs what the tables are made of, on the traces that are there, and prints
// them.
func (c *simReproDynPCmd) Run(a *app) error {
	workers, err := campaignWorkers(c.Jobs)
	if err != nil {
		return err
	}
	r := &dynpRunner{app: a, workers: workers, workloads: map[string]*sim.Workload{}, figures: map[papers.DynPRun]*papers.DynPFigures{}}
	if err := r.read(); err != nil {
		return err
	}
	if err := r.run(papers.DynPRuns(r.traces, c.Quick)); err != nil {
		return err
	}
	timing, err := r.time()
	if err != nil {
		return err
	}
	report := papers.DynP(r.traces, r.figures, c.Quick)
	return publication{c.Out, c.Doc, papers.DynPBegin, papers.DynPEnd}.publish(a, timedReport{report, timing}, func(files int) error {
		_, err := fmt.Fprintf(a.stdout, "%s\n%s%d files in %s\n", report.Markdown(2, ""), timing, files, c.Out)
		return err
	})
}

// dynpRunner makes the runs of the report.
type dynpRunner struct {
	*app
	workers   int
	traces    []papers.DynPTrace // that are there
	workloads map[string]*sim.Workload
	figures   map[papers.DynPRun]*papers.DynPFigures
}

// read reads the traces that are there. None is an error.
func (r *dynpRunner) read() error {
	var missing error
	for _, t := range papers.DynPTraces {
		path, err := swf.FindTrace(t.File)
		if err != nil {
			missing = errors.Join(missing, err)
			if _, err := fmt.Fprintf(r.stderr, "left out: %s, %v\n", t.Name, err); err != nil {
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
func (r *dynpRunner) run(runs []papers.DynPRun) error {
	bar := &simProgress{process: r.process, unit: "runs"}
	defer bar.finish()
	results, err := eachOf(r.ctx, r.workers, runs, func(k papers.DynPRun) (*papers.DynPFigures, error) {
		s := sim.Single{Procs: r.procs(k.Trace), Policy: "dynp", Settings: settingsOf(k)}
		result, err := s.Replay(r.ctx, r.workloads[k.Trace])
		if err != nil {
			return nil, fmt.Errorf("%s, %v: %w", k.Trace, s.Settings, err)
		}
		return figuresOf(&result.Summary), nil
	}, func(done int) { bar.report(done, len(runs)) })
	if err != nil {
		return err
	}
	for i, k := range runs {
		r.figures[k] = results[i]
	}
	return nil
}

// settingsOf returns a run's settings as --set has them.
func settingsOf(k papers.DynPRun) batch.Settings {
	s := batch.Settings{"policies": k.Policies, "decider": k.Decider, "metric": k.Metric, "equal": k.Equal, "tuning": "full", "list": "own"}
	if k.Half {
		s["tuning"] = "half"
	}
	if k.Shared {
		s["list"] = "shared"
	}
	return s
}

func figuresOf(s *sim.Summary) *papers.DynPFigures {
	f := &papers.DynPFigures{Jobs: s.Jobs, SLDwA: s.SlowdownAreaWeighted, Utilization: s.Utilization, Steps: s.Steps}
	for _, p := range s.Policies {
		f.Policies = append(f.Policies, papers.DynPPolicy{Name: p.Name, Switches: p.Switches, Started: p.Started})
	}
	for _, c := range s.Cases {
		f.Cases = append(f.Cases, papers.DynPCase(c))
	}
	return f
}
