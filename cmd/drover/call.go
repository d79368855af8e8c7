package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type callCmd struct {
	Service string `arg:"" complete:"service" help:"The service to execute; drover services lists them."`
	request `embed:""`
	Out     []string `sep:"none" placeholder:"NAME=PATH" help:"Write the output for this argument to a file. Also for inout arguments. Repeatable."`
}

func (c *callCmd) Run(a *app) error {
	now := time.Now()
	outputs, err := c.outputArgs()
	if err != nil {
		return err
	}
	grid, args, err := c.prepare(a, c.Service, now)
	if err != nil {
		return err
	}
	line := &progress{app: a}
	remembered := ""
	notify := client.Notify(func(j *client.Job) {
		if j.ID != remembered {
			remembered = j.ID
			a.rememberLast(j.ID, now)
		}
		line.job(j)
	})
	job, err := grid.Call(a.ctx, c.Service, append(append(args, outputs...), client.Sending(line.sending), notify)...)
	line.clear()
	if _, ended := errors.AsType[*client.EndError](err); err != nil && !ended {
		a.rememberLast(possibleJob(err), now)
		if job == nil {
			return err
		}
		if job.State == client.Done { // its files are still at its site
			err = fmt.Errorf("job %s is done, but: %w", job.ID, err)
		}
		return a.interrupted(err, job.ID)
	}
	a.printKept(job)
	if a.flags.JSON || a.flags.Quiet {
		err = a.printJob(job, true, "")
	} else {
		err = printLogs(a, grid, job.ID)
	}
	if err == nil || job.State == client.Done {
		return errors.Join(err, a.jobError(job))
	}
	// The exit code tells about the job rather than about its logs.
	_, _ = fmt.Fprintf(a.Stderr, "drover: cannot read the job's output: %v\n", err)
	return a.jobError(job)
}

// outputArgs translates --out NAME=PATH.
func (c *callCmd) outputArgs() ([]client.Arg, error) {
	var args []client.Arg
	seen := make(map[string]bool)
	for _, o := range c.Out {
		name, path, ok := strings.Cut(o, "=")
		switch {
		case !ok || name == "" || path == "":
			return nil, &cmdline.UsageError{
				Message: fmt.Sprintf("--out %q, accepted: NAME=PATH", o),
				Hint:    fmt.Sprintf("drover services %s lists the outputs", c.Service),
			}
		case seen[name]:
			return nil, &cmdline.UsageError{Message: fmt.Sprintf("--out names %s twice, accepted: once", name)}
		}
		seen[name] = true
		args = append(args, client.TextOutput(name, path))
	}
	return args, nil
}

// printLogs prints both streams of a job that has ended.
func printLogs(a *app, grid *client.Client, id string) error {
	if err := grid.Logs(a.ctx, id, client.LogOptions{}, a.Stdout); err != nil {
		return err
	}
	return grid.Logs(a.ctx, id, client.LogOptions{Stderr: true}, a.Stderr)
}
