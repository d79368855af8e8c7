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
	RerunAfter time.Duration `placeholder:"D" help:"When for so long nobody can say what became of it, submit its request anew, under a new ID, and wait for that. Only of an idempotent request without files."`
}

// mostWatched bounds how many jobs are watched at a time: each is a stream. The others
// wait for one of them to end.
const mostWatched = 256

func (c *waitCmd) Run(a *app) error {
	if c.RerunAfter < 0 {
		return &cmdline.UsageError{Message: fmt.Sprintf("--rerun-after %v, accepted: above 0s", c.RerunAfter)}
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	jobs, err := a.choose(grid, c.Jobs, false)
	if err != nil {
		return err
	}
	line := &progress{app: a}
	if jobs.single {
		job, err := c.one(a, grid, jobs.ids[0], line.show)
		line.clear()
		if err != nil {
			return a.left(err, jobs.ids[0])
		}
		if err := a.print(job, true, string(job.State)); err != nil {
			return err
		}
		return a.ended(job)
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

// many waits for all, and tells of each when it ends. It exits as the first of them, in
// the order in which they were named, that did not end well.
func (c *waitCmd) many(a *app, grid *client.Client, ids []string, line *progress) error {
	var (
		mu    sync.Mutex
		left  []string
		fatal error // what was to be told cannot be
	)
	tell := func(n int) { line.line("waiting: %d of %d jobs have ended", n, len(ids)) }
	tell(0)
	ended := make(map[string]bool)
	results, _ := parallel.Map(a.ctx, min(mostWatched, len(ids)), ids, func(id string) (error, error) {
		job, err := c.one(a, grid, id, func(*client.Job) {})
		mu.Lock()
		defer mu.Unlock()
		line.clear()
		switch {
		case err == nil:
			ended[id] = true
			fatal = errors.Join(fatal, a.print(job, false, string(job.State)))
			return a.ended(job), nil
		case !stopped(a.ctx, err):
			ended[id] = true
			return cmdline.ExitError(report(a.Process, a.flags.JSON, fmt.Errorf("job %s: %w", id, err))), nil
		}
		return nil, nil
	}, tell)
	line.clear()
	for _, id := range ids {
		if !ended[id] {
			left = append(left, id)
		}
	}
	if len(left) > 0 {
		return errors.Join(fatal, a.left(context.Canceled, left...))
	}
	return errors.Join(fatal, firstOf(results))
}

// firstOf returns the first error there is.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// stopped says whether an error is that somebody pressed Ctrl-C.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// left tells what becomes of jobs that are waited for no more.
func (a *app) left(err error, ids ...string) error {
	if !stopped(a.ctx, err) {
		return err
	}
	if len(ids) == 1 {
		_, _ = fmt.Fprintf(a.Stderr, "drover: interrupted; job %[1]s goes on\nhint: drover wait %[1]s, or drover cancel %[1]s\n", ids[0])
		return cmdline.ExitError(cmdline.ExitInterrupted)
	}
	named := ids
	more := ""
	if len(ids) > mostNamed {
		named, more = ids[:mostNamed], fmt.Sprintf(" and %d more", len(ids)-mostNamed)
	}
	_, _ = fmt.Fprintf(a.Stderr, "drover: interrupted; %d jobs go on: %s%s\nhint: drover wait, or drover cancel, with the same names\n",
		len(ids), strings.Join(named, " "), more)
	return cmdline.ExitError(cmdline.ExitInterrupted)
}

// ended turns the end of a job into that of the command.
func (a *app) ended(j *client.Job) error {
	code := codeOfJob(j)
	if code == cmdline.ExitOK {
		return nil
	}
	if !a.flags.JSON {
		_, _ = fmt.Fprintf(a.Stderr, "drover: %v\n", &client.EndError{Job: j})
	}
	return cmdline.ExitError(code)
}
