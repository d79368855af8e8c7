package main

import (
	"fmt"
	"io"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/scenarios"
)

// simVariant is what flags may change of a scenario.
type simVariant struct {
	Seed        *uint64 `placeholder:"N" help:"Of a scenario: what is drawn, the types of moldable jobs and who is a local user, is drawn from this. Default: the scenario's."`
	Local       string  `placeholder:"SHARE" help:"Of a scenario: the share of the jobs that are rigid local jobs of their own site, as 2/3. Default: the scenario's."`
	Homogeneous bool    `help:"Of a scenario: all sites have speed 1."`
	Compare     bool    `help:"Of a scenario with reallocation: run it without, too, and say what has changed for whom."`
}

func (v *simVariant) given() bool {
	return v.Seed != nil || v.Local != "" || v.Homogeneous || v.Compare
}

// variant returns what a scenario asks for, as far as flags say nothing else.
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
		return out, &cmdline.UsageError{Message: "--compare of a scenario without reallocation", Hint: "reallocation: {} in it is that of the paper"}
	}
	return out, nil
}

// scenario runs a scenario, and its reference if that was asked for.
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

// printComparison says what reallocation has changed.
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
