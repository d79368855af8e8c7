package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/growth"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/rusage"
	"github.com/seed-9b8f70bb/drover/reallocation"
)

// roundsCmd is drover-lab rounds.
type roundsCmd struct {
	Sites     []int         `default:"3,30,300" placeholder:"N" help:"How many sites: 1 to 1000."`
	Jobs      []int         `default:"1000,10000,100000" placeholder:"N" help:"How many jobs wait: 1 to 1,000,000."`
	Algorithm []string      `default:"regular,all-cancellation" placeholder:"NAME" help:"regular, all-cancellation."`
	Heuristic []string      `default:"mct,minmin,maxmin,sufferage,maxgain" placeholder:"NAME" help:"mct, minmin, maxmin, sufferage, maxgain, maxrelgain."`
	Window    []string      `default:"20,all" placeholder:"N" help:"How many of the oldest jobs a heuristic compares, or all."`
	Unlike    bool          `help:"Rounds do not know which jobs are alike."`
	Seed      uint64        `default:"1" placeholder:"S" help:"The same seed makes the same sites and jobs."`
	Limit     time.Duration `default:"30s" placeholder:"D" help:"Stop a round that takes more processor time, and leave out rounds with more jobs."`
	Out       string        `short:"o" placeholder:"FILE" help:"Write the rows to this file. Default: stdout."`
}

// Run measures a round of each combination.
func (c *roundsCmd) Run(a *app) error {
	cases, err := c.cases()
	if err != nil {
		return &cmdline.UsageError{Message: err.Error()}
	}
	if c.Limit <= 0 {
		return &cmdline.UsageError{Message: fmt.Sprintf("--limit: %v, accepted: more than 0s", c.Limit)}
	}
	out := a.Stdout
	if c.Out != "" {
		file, err := os.Create(c.Out)
		if err != nil {
			return fmt.Errorf("output: %w", err)
		}
		defer file.Close()
		out = file
	}
	return c.measure(a, cases, out)
}

// measure writes a row for each case, smaller ones first.
func (c *roundsCmd) measure(a *app, cases []growth.Case, out io.Writer) error {
	table, err := growth.NewTable(out)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	type kind struct {
		sites     int
		algorithm reallocation.Algorithm
		heuristic reallocation.Heuristic
		window    reallocation.Window
	}
	tooLong := map[kind]int{} // how many jobs were too many
	for _, k := range cases {
		kind := kind{k.Sites, k.Algorithm, k.Heuristic, k.Window}
		name := fmt.Sprintf("%d sites, %d jobs, %v, %v", k.Sites, k.Jobs, k.Algorithm, k.Heuristic)
		if k.Window != reallocation.All {
			name += fmt.Sprintf(", window %d", k.Window)
		}
		if most := tooLong[kind]; most > 0 && k.Jobs >= most {
			continue
		}
		row, ok, err := growth.Measure(a.ctx, k, rusage.ProcessorTime, c.Limit)
		if err != nil {
			return err
		}
		if !ok {
			tooLong[kind] = k.Jobs
			if _, err := fmt.Fprintf(a.Stderr, "%s: stopped after %v\n", name, c.Limit); err != nil {
				return err
			}
			continue
		}
		if err := table.Write(&row); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}

// cases returns all combinations. MCT has no window.
func (c *roundsCmd) cases() ([]growth.Case, error) {
	var cases []growth.Case
	for _, jobs := range c.Jobs {
		for _, sites := range c.Sites {
			base := growth.Case{Sites: sites, Jobs: jobs, Alike: !c.Unlike, Seed: c.Seed}
			if err := base.Validate(); err != nil {
				return nil, fmt.Errorf("--%w", err)
			}
			for _, name := range c.Algorithm {
				algorithm, err := reallocation.ParseAlgorithm(name)
				if err != nil {
					return nil, fmt.Errorf("--%w", err)
				}
				base.Algorithm = algorithm
				if cases, err = c.heuristics(cases, base); err != nil {
					return nil, fmt.Errorf("--%w", err)
				}
			}
		}
	}
	return cases, nil
}

func (c *roundsCmd) heuristics(cases []growth.Case, base growth.Case) ([]growth.Case, error) {
	for _, name := range c.Heuristic {
		heuristic, err := reallocation.ParseHeuristic(name)
		if err != nil {
			return nil, err
		}
		base.Heuristic = heuristic
		for i, name := range c.Window {
			if base.Window, err = reallocation.ParseWindow(name); err != nil {
				return nil, err
			}
			if heuristic == reallocation.MCT {
				base.Window = reallocation.All
			}
			if heuristic != reallocation.MCT || i == 0 {
				cases = append(cases, base)
			}
		}
	}
	return cases, nil
}
