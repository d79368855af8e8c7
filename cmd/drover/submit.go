package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// request is what submit and call have in common.
type request struct {
	Service string   `arg:"" help:"The service to execute; drover services lists them."`
	Args    []string `arg:"" optional:"" name:"name=value" help:"Its arguments. A file is given by its path."`

	Width      *int           `help:"Processors; default: what finishes first."`
	Walltime   *time.Duration `help:"When to kill it; default: by the service's performance model."`
	Deadline   *time.Duration `help:"From now, when it has to be finished: an agreement, which a site makes only if its plan keeps it."`
	BestEffort bool           `help:"The deadline is no agreement: a site that expects to be late refuses, and that is all."`
	Value      float64        `help:"What keeping the agreement is worth, for the site's accounts."`
	Penalty    float64        `help:"What breaking it costs."`

	Checkpointable bool `help:"The job can be stopped and go on from where it was; with --deadline."`

	Into       string            `placeholder:"ID" help:"Run in this reservation."`
	After      *time.Duration    `help:"From now, when it may start at the earliest."`
	Owner      string            `help:"Who asks; default: USER."`
	Idempotent bool              `help:"Executing it twice does no harm."`
	RerunAfter time.Duration     `placeholder:"D" help:"Submit it anew, under a new ID, when for so long nobody can say what became of it. Needs --idempotent."`
	Label      map[string]string `help:"Words to keep with the job, key=value."`
}

func (r *request) arguments(now time.Time) ([]client.Arg, error) {
	var args []client.Arg
	if r.Width != nil {
		if *r.Width < 1 {
			return nil, &usageError{message: fmt.Sprintf("--width %d, accepted: 1 or more", *r.Width), hint: "without it the site chooses"}
		}
		args = append(args, client.Width(*r.Width))
	}
	for _, a := range r.Args {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, &usageError{
				message: fmt.Sprintf("argument %q, accepted: name=value", a),
				hint:    fmt.Sprintf("drover services %s lists the arguments", r.Service),
			}
		}
		args = append(args, client.Text(name, value))
	}
	for _, d := range []struct {
		flag  string
		given *time.Duration
		arg   func(time.Duration) client.Arg
	}{
		{"walltime", r.Walltime, client.Walltime},
		{"deadline", r.Deadline, func(d time.Duration) client.Arg { return r.until(now.Add(d)) }},
		{"after", r.After, func(d time.Duration) client.Arg { return client.EarliestStart(now.Add(d)) }},
	} {
		if d.given == nil {
			continue
		}
		if *d.given <= 0 {
			return nil, &usageError{message: fmt.Sprintf("--%s %v, accepted: above 0s", d.flag, *d.given)}
		}
		args = append(args, d.arg(*d.given))
	}
	switch {
	case r.Deadline == nil && (r.BestEffort || r.Value != 0 || r.Penalty != 0 || r.Checkpointable):
		return nil, &usageError{message: "--best-effort, --value, --penalty and --checkpointable need --deadline"}
	case r.BestEffort && (r.Value != 0 || r.Penalty != 0 || r.Checkpointable):
		return nil, &usageError{message: "--best-effort makes no agreement, accepted: without --value, --penalty and --checkpointable"}
	case !(r.Value >= 0):
		return nil, &usageError{message: fmt.Sprintf("--value %g, accepted: 0 or more", r.Value)}
	case !(r.Penalty >= 0):
		return nil, &usageError{message: fmt.Sprintf("--penalty %g, accepted: 0 or more", r.Penalty)}
	}
	if r.Into != "" {
		args = append(args, client.Into(r.Into))
	}
	if r.Owner != "" {
		args = append(args, client.Owner(r.Owner))
	}
	if r.Idempotent {
		args = append(args, client.Idempotent())
	}
	switch {
	case r.RerunAfter < 0:
		return nil, &usageError{message: fmt.Sprintf("--rerun-after %v, accepted: above 0s", r.RerunAfter)}
	case r.RerunAfter > 0 && !r.Idempotent:
		return nil, &usageError{message: "--rerun-after needs --idempotent", hint: "the request may then be executed twice: only its owner knows whether that does harm"}
	case r.RerunAfter > 0:
		args = append(args, client.Rerun(r.RerunAfter))
	}
	for k, v := range r.Label {
		args = append(args, client.Label(k, v))
	}
	return args, nil
}

// until returns what a deadline means: in a reservation it is no agreement, because the
// processors are there.
func (r *request) until(t time.Time) client.Arg {
	if r.BestEffort || r.Into != "" {
		return client.Deadline(t)
	}
	return client.Agree(t, client.Terms{Value: r.Value, Penalty: r.Penalty, Checkpointable: r.Checkpointable})
}

type submitCmd struct {
	request   `embed:""`
	Negotiate bool `help:"Show what each site offers, and submit nothing."`
}

func (c *submitCmd) Run(a *app) error {
	args, err := c.arguments(time.Now())
	if err != nil {
		return err
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	if c.Negotiate {
		d, err := grid.Negotiate(a.ctx, c.Service, args...)
		if err != nil {
			return err
		}
		return showOffers(a, d)
	}
	job, err := grid.Submit(a.ctx, c.Service, append(args, client.Notify((&progress{app: a}).anew))...)
	if err != nil {
		return err
	}
	if a.flags.JSON {
		return writeJSON(a.stdout, one(job))
	}
	if a.terminal {
		_, _ = fmt.Fprintf(a.stderr, "at %s: %s, starts in %s, ends in %s (%s)\n",
			job.Site, processors(job.Shape.Width), span(job.EstimatedWait), span(job.EstimatedCompletion), job.EstimateKind)
	}
	_, err = fmt.Fprintln(a.stdout, job.ID)
	return err
}

type callCmd struct {
	request `embed:""`
}

func (c *callCmd) Run(a *app) error {
	args, err := c.arguments(time.Now())
	if err != nil {
		return err
	}
	grid, err := a.grid()
	if err != nil {
		return err
	}
	line := &progress{app: a}
	job, err := grid.Call(a.ctx, c.Service, append(args, client.Notify(line.show))...)
	line.clear()
	if _, ended := errors.AsType[*client.EndError](err); err != nil && !ended {
		if job == nil {
			return err
		}
		return a.left(job.ID, err)
	}
	if a.flags.JSON {
		err = writeJSON(a.stdout, one(job))
	} else {
		err = logs(a, grid, job.ID)
	}
	if err == nil || job.State == client.Done {
		return errors.Join(err, a.ended(job))
	}
	// The job's own failure is the news.
	_, _ = fmt.Fprintf(a.stderr, "drover: what the job wrote cannot be read: %v\n", err)
	return a.ended(job)
}

// logs prints both streams of a job that has ended.
func logs(a *app, grid *client.Client, id string) error {
	if err := grid.Logs(a.ctx, id, client.LogOptions{}, a.stdout); err != nil {
		return err
	}
	return grid.Logs(a.ctx, id, client.LogOptions{Stderr: true}, a.stderr)
}

type waitCmd struct {
	Job        string        `arg:"" help:"ID of the job."`
	RerunAfter time.Duration `placeholder:"D" help:"When for so long nobody can say what became of it, submit its request anew, under a new ID, and wait for that. Only of an idempotent request without files."`
}

func (c *waitCmd) Run(a *app) error {
	grid, err := a.grid()
	if err != nil {
		return err
	}
	line := &progress{app: a}
	var job *client.Job
	switch {
	case c.RerunAfter < 0:
		return &usageError{message: fmt.Sprintf("--rerun-after %v, accepted: above 0s", c.RerunAfter)}
	case c.RerunAfter > 0:
		job, err = grid.WatchRerun(a.ctx, c.Job, c.RerunAfter, line.show)
	default:
		job, err = grid.Watch(a.ctx, c.Job, line.show)
	}
	line.clear()
	if err != nil {
		return a.left(c.Job, err)
	}
	if a.flags.JSON {
		err = writeJSON(a.stdout, one(job))
	} else {
		_, err = fmt.Fprintln(a.stdout, job.State)
	}
	if err != nil {
		return err
	}
	return a.ended(job)
}

// left tells what becomes of a job that is waited for no more.
func (a *app) left(id string, err error) error {
	if a.ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	_, _ = fmt.Fprintf(a.stderr, "drover: interrupted; job %s goes on\nhint: drover wait %s, or drover cancel %s\n", id, id, id)
	return exitError(exitInterrupted)
}

// ended turns the end of a job into that of the command.
func (a *app) ended(j *client.Job) error {
	code := codeOfJob(j)
	if code == exitOK {
		return nil
	}
	if !a.flags.JSON {
		_, _ = fmt.Fprintf(a.stderr, "drover: %v\n", &client.EndError{Job: j})
	}
	return exitError(code)
}

// progress is one line on a terminal that is written anew with each change.
type progress struct {
	app   *app
	shown bool
	told  string // ID of the new attempt that was told of last
}

// anew tells of a job that was started in place of another one.
func (p *progress) anew(j *client.Job) {
	if j.RetryOf == "" || j.ID == p.told {
		return
	}
	p.clear()
	p.told = j.ID
	_, _ = fmt.Fprintf(p.app.stderr, "drover: nobody can say what became of job %s: started anew as job %s at site %s\n", j.RetryOf, j.ID, j.Site)
}

func (p *progress) show(j *client.Job) {
	p.anew(j)
	if !p.app.terminal || p.app.flags.JSON {
		return
	}
	p.shown = true
	_, _ = fmt.Fprintf(p.app.stderr, "\r\x1b[K%s at %s, %s: %s", j.ID, j.Site, processors(j.Shape.Width), j.State)
}

func (p *progress) clear() {
	if p.shown {
		_, _ = fmt.Fprint(p.app.stderr, "\r\x1b[K")
	}
}

func processors(n int) string { return plural(n, "processor") }

// plural counts things for people.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
