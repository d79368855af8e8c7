package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Report is what a cluster is found to be, for its operator.
type Report struct {
	Settings  Settings
	Partition Partition
	Platform  batch.Platform // all nodes of the partition, those too that are down
	Usable    int32          // processors of those that are not
	Widest    int32          // processors that the partition lets one job have
	// Warnings are what is not as it should be, and does not keep Drover from working.
	Warnings []string
}

// Inspect asks a cluster what it is: with the commands that a System uses, and one
// trial submission that Slurm only looks at. Errors are an *UnreachableError, or why
// the cluster cannot be used as the configuration wants it.
func Inspect(ctx context.Context, c *Config) (Report, error) {
	commands := &c.Commands
	var r Report
	var err error
	if commands.Conf != "" {
		// Slurm's programs look for a configuration elsewhere then, for longer than they have.
		if _, err := os.Stat(commands.Conf); err != nil {
			return Report{}, &UnreachableError{Command: "scontrol", Text: err.Error()}
		}
	}
	if r.Settings, err = commands.Settings(ctx); err != nil {
		return Report{}, err
	}
	if r.Settings.Version.Before(Oldest) {
		return Report{}, fmt.Errorf("version %v of Slurm, accepted: %v and later", r.Settings.Version, Oldest)
	}
	all, err := commands.Partitions(ctx)
	if err != nil {
		return Report{}, err
	}
	if r.Partition, err = choose(all, c.Partition); err != nil {
		return Report{}, err
	}
	machine, err := commands.cluster(ctx, c.Partition)
	if err != nil {
		return Report{}, err
	}
	r.Usable = platform(machine.nodes).Width()
	for i := range machine.nodes {
		machine.nodes[i].Usable = true
	}
	r.Platform, r.Widest = platform(machine.nodes), r.Partition.widest(machine.nodes)
	if err := r.Platform.Validate(); err != nil {
		return Report{}, fmt.Errorf("partition %s: %w", r.Partition.Name, err)
	}
	notes, err := r.checkRights(ctx, c, c.Try(ctx, 1, nil))
	if err != nil {
		return Report{}, err
	}
	r.warn(c)
	r.Warnings = append(r.Warnings, notes...)
	return r, nil
}

func choose(all []Partition, name string) (Partition, error) {
	var names []string
	for _, p := range all {
		if p.Name == name || name == "" && p.Default {
			return p, nil
		}
		names = append(names, p.Name)
	}
	if name == "" {
		return Partition{}, fmt.Errorf("partition: none is the default, accepted: one of %v", names)
	}
	return Partition{}, fmt.Errorf("partition: %q, accepted: one of %v", name, names)
}

// Try has Slurm look at a submission that it does not make: whether this account may
// submit here, and with these options of a script.
func (c *Config) Try(ctx context.Context, width int32, extra []string) error {
	args := []string{"sbatch", "--test-only"}
	args = append(append(args, extra...), c.Extra...)
	args = append(args, "--ntasks="+strconv.Itoa(int(width)), "--time=1")
	for _, o := range [][2]string{{"--partition=", c.Partition}, {"--account=", c.Account}, {"--qos=", c.QOS}} {
		if o[1] != "" {
			args = append(args, o[0]+o[1])
		}
	}
	_, err := c.Commands.run(ctx, []byte("#!/bin/sh\n"), args...)
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Again {
		return nil // full, for the moment
	}
	if err != nil {
		return fmt.Errorf("trial submission: %w", err)
	}
	return nil
}

// warn notes what an operator should know.
func (r *Report) warn(c *Config) {
	note := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	s := &r.Settings
	if !r.Partition.Up {
		note("partition %s is not up: jobs wait there", r.Partition.Name)
	}
	if s.PartLimits != "ALL" && s.PartLimits != "YES" {
		note("EnforcePartLimits is %s: jobs that can never run wait for ever instead of being refused", s.PartLimits)
	}
	if s.MinJobAge < 4*micros(c.Interval) {
		note("MinJobAge is %v: jobs may be forgotten before their end is seen; what they write themselves is believed then", s.MinJobAge)
	}
	if s.Proctrack == "proctrack/pgid" {
		note("ProctrackType is %s: programs may outlive their jobs; use proctrack/cgroup", s.Proctrack)
	}
	if r.Partition.Shared {
		note("partition %s lets jobs share processors: estimates count each job's as its own", r.Partition.Name)
	}
	if r.Partition.Whole {
		note("partition %s gives jobs whole nodes: estimates count processors", r.Partition.Name)
	}
	if r.Usable < r.Platform.Width() {
		note("%d of %d processors are not usable now", r.Platform.Width()-r.Usable, r.Platform.Width())
	}
}
