package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/parallel"
)

type waitCmd struct {
	Jobs       []string      `arg:"" name:"job" complete:"active" help:"The jobs: IDs or their beginnings, last, all, FROM..TO."`
	RerunAfter time.Duration `placeholder:"D" help:"When the job has been unknown for this long, submit its request again under a new ID and wait for that job. Only for idempotent requests without files."`
}

// maxWatched bounds how many jobs are watched at a time, each with a stream. The others
// follow when one of these has ended.
const maxWatched = 256

func (c *waitCmd) Run(a *app) error {
	if c.RerunAfter < 0 {
		return &cmdline.UsageError{Message: fmt.Sprintf("--rerun-after %v, accepted: above 0s", c.RerunAfter)}
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.selectJobs(grid, c.Jobs, false)
	if err != nil {
		return err
	}
	line := &progress{app: a}
	if jobs.single {
		job, err := c.one(a, grid, jobs.ids[0], line.job)
		line.clear()
		if err != nil {
			return a.interrupted(err, jobs.ids[0])
		}
		if err := a.printJob(job, true, string(job.State)); err != nil {
			return err
		}
		return a.jobError(job)
	}
	return c.many(a, grid, jobs.ids, line)
}

// one waits for one job.
func (c *waitCmd) one(a *app, grid *client.Client, id string, see func(*client.Job)) (*client.Job, error) {
	if c.RerunAfter > 0 {
		return grid.WatchRerun(a.ctx, id, c.RerunAfter, see)
	}
	return grid.Watch(a.ctx, id, see)
}

// many waits for several jobs and prints each as it ends. It returns the error of the
// first job, in the order of ids, that did not end well.
func (c *waitCmd) many(a *app, grid *client.Client, ids []string, line *progress) error {
	var (
		mu       sync.Mutex
		left     []string
		printErr error
	)
	show := func(n int) { line.line("waiting: %d of %d jobs have ended", n, len(ids)) }
	show(0)
	ended := make(map[string]bool)
	results, _ := parallel.Map(a.ctx, min(maxWatched, len(ids)), ids, func(id string) (error, error) {
		job, err := c.one(a, grid, id, func(*client.Job) {})
		mu.Lock()
		defer mu.Unlock()
		line.clear()
		switch {
		case err == nil:
			ended[id] = true
			printErr = errors.Join(printErr, a.printJob(job, false, string(job.State)))
			return a.jobError(job), nil
		case !isInterrupt(a.ctx, err):
			ended[id] = true
			return cmdline.ExitError(report(a.Process, a.flags.JSON, fmt.Errorf("job %s: %w", id, err))), nil
		}
		return nil, nil
	}, show)
	line.clear()
	for _, id := range ids {
		if !ended[id] {
			left = append(left, id)
		}
	}
	if len(left) > 0 {
		return errors.Join(printErr, a.interrupted(context.Canceled, left...))
	}
	for _, err := range results {
		if err != nil {
			return errors.Join(printErr, err)
		}
	}
	return printErr
}

// isInterrupt reports whether err is the user's Ctrl-C.
func isInterrupt(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// interrupted tells the user, after Ctrl-C, that the jobs continue. It returns any other
// error as it is.
func (a *app) interrupted(err error, ids ...string) error {
	if !isInterrupt(a.ctx, err) {
		return err
	}
	if len(ids) == 1 {
		_, _ = fmt.Fprintf(a.Stderr,
			"drover: interrupted; job %[1]s continues\nhint: drover wait %[1]s, or drover cancel %[1]s\n", ids[0])
		return cmdline.ExitError(cmdline.ExitInterrupted)
	}
	listed := ids
	more := ""
	if len(ids) > maxListed {
		listed, more = ids[:maxListed], fmt.Sprintf(" and %d more", len(ids)-maxListed)
	}
	_, _ = fmt.Fprintf(a.Stderr,
		"drover: interrupted; %d jobs continue: %s%s\nhint: drover wait, or drover cancel, with the same names\n",
		len(ids), strings.Join(listed, " "), more)
	return cmdline.ExitError(cmdline.ExitInterrupted)
}

// jobError returns the error with which the command ends after a job: nil if it is done.
func (a *app) jobError(j *client.Job) error {
	code := codeOfJob(j)
	if code == cmdline.ExitOK {
		return nil
	}
	if !a.flags.JSON {
		_, _ = fmt.Fprintf(a.Stderr, "drover: %v\n", &client.EndError{Job: j})
	}
	return cmdline.ExitError(code)
}
