package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
)

type submitCmd struct {
	Service   string `arg:"" optional:"" complete:"service" help:"The service to execute; drover services lists them."`
	request   `embed:""`
	Negotiate bool    `xor:"many" help:"Show what each site offers, and submit nothing."`
	From      *string `xor:"many" placeholder:"FILE" help:"Submit the requests of a file of JSON lines; - is stdin. What a line leaves out is as the command line says."`
	Array     *string `xor:"many" placeholder:"RANGE" help:"Submit one request for each index of a range, as 1-100, 0-90:10 or 1,5-9. {index} in the values of arguments and labels is the index."`
}

func (c *submitCmd) Run(a *app) error {
	now := time.Now()
	switch {
	case c.From != nil:
		return c.fromFile(a, now)
	case c.Service == "":
		return &cmdline.UsageError{Message: `expected "<service>"`, Hint: "drover --help, or --help after a command"}
	case c.Array != nil:
		return c.array(a, now)
	}
	args, err := c.arguments(c.Service, now, client.Text)
	if err != nil {
		return err
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	after, err := newFinder(a, grid).after(c.After)
	if err != nil {
		return err
	}
	args = append(args, afterArgs(after)...)
	if c.Negotiate && a.flags.Quiet {
		return &cmdline.UsageError{Message: "--quiet with --negotiate, which prints no IDs", Hint: "without it, or with --json"}
	}
	if c.Negotiate {
		d, err := grid.Negotiate(a.ctx, c.Service, args...)
		if err != nil {
			return err
		}
		return showOffers(a, d)
	}
	line := &progress{app: a}
	job, err := grid.Submit(a.ctx, c.Service, append(args, client.Notify(line.anew), client.Sending(line.sending))...)
	line.clear()
	if err != nil {
		a.keepLast(mayBe(err), now)
		return err
	}
	a.keepLast(job.ID, now)
	if a.Terminal && !a.flags.JSON && !a.flags.Quiet {
		_, _ = fmt.Fprintf(a.Stderr, "at %s: %s, starts in %s, ends in %s (%s)\n",
			job.Site, processors(job.Shape.Width), cmdline.Span(job.EstimatedWait), cmdline.Span(job.EstimatedCompletion), job.EstimateKind)
	}
	a.tellKept(job)
	return a.print(job, true, job.ID)
}

type callCmd struct {
	Service string `arg:"" complete:"service" help:"The service to execute; drover services lists them."`
	request `embed:""`
	Out     []string `sep:"none" placeholder:"NAME=PATH" help:"Put what comes out for an argument there, as of one that goes in, too. Repeatable."`
}

func (c *callCmd) Run(a *app) error {
	now := time.Now()
	args, err := c.arguments(c.Service, now, client.Text)
	if err != nil {
		return err
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	after, err := newFinder(a, grid).after(c.After)
	if err != nil {
		return err
	}
	args = append(args, afterArgs(after)...)
	outs, err := outputs(c.Service, c.Out)
	if err != nil {
		return err
	}
	args = append(args, outs...)
	line := &progress{app: a}
	kept := ""
	job, err := grid.Call(a.ctx, c.Service, append(args, client.Sending(line.sending), client.Notify(func(j *client.Job) {
		if j.ID != kept {
			kept = j.ID
			a.keepLast(j.ID, now)
		}
		line.show(j)
	}))...)
	line.clear()
	if _, ended := errors.AsType[*client.EndError](err); err != nil && !ended {
		a.keepLast(mayBe(err), now)
		if job == nil {
			return err
		}
		if job.State == client.Done { // its files are still at its site
			err = fmt.Errorf("job %s is done, but: %w", job.ID, err)
		}
		return a.left(err, job.ID)
	}
	a.tellKept(job)
	if a.flags.JSON || a.flags.Quiet {
		err = a.print(job, true, "")
	} else {
		err = logs(a, grid, job.ID)
	}
	if err == nil || job.State == client.Done {
		return errors.Join(err, a.ended(job))
	}
	// The job's own failure is the news.
	_, _ = fmt.Fprintf(a.Stderr, "drover: what the job wrote cannot be read: %v\n", err)
	return a.ended(job)
}

// logs prints both streams of a job that has ended.
func logs(a *app, grid *client.Client, id string) error {
	if err := grid.Logs(a.ctx, id, client.LogOptions{}, a.Stdout); err != nil {
		return err
	}
	return grid.Logs(a.ctx, id, client.LogOptions{Stderr: true}, a.Stderr)
}
