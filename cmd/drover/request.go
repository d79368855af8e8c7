package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/client"
)

// request is what submit, call and estimate have in common, but for the service.
type request struct {
	Args []string `arg:"" optional:"" name:"name=value" help:"Its arguments. A file is given by its path." complete:"argument"`

	Width      *int           `help:"Processors; default: what finishes first."`
	CPU        *float64       `name:"cpu" placeholder:"N" help:"Part of a processor that each task can use, above 0 and up to 1; default: 1. Only sites that share processors look at it."`
	Walltime   *time.Duration `placeholder:"D" help:"When to kill it; default: by the service's performance model."`
	Deadline   *time.Duration `placeholder:"D" help:"From now, when it has to be finished: an agreement, which a site makes only if its plan keeps it."`
	BestEffort bool           `help:"The deadline is no agreement: a site that expects to be late refuses, and that is all."`
	Value      float64        `help:"What keeping the agreement is worth, for the site's accounts."`
	Penalty    float64        `help:"What breaking it costs."`

	Checkpointable bool `help:"The job can be stopped and go on from where it was; with --deadline."`

	License    []string          `placeholder:"NAME[:N]" help:"Hold so many copies of a license while it runs, beyond those that its service needs; default: 1. Repeatable."`
	Into       string            `placeholder:"ID" help:"Run in this reservation."`
	Begin      string            `placeholder:"T" help:"When it may start at the earliest: a time from now, as 90m, or an instant, as 2026-05-01T09:00:00Z."`
	After      []string          `placeholder:"JOB" complete:"jobs" help:"Start it when this job is done: its ID or the beginning, last, all, FROM..TO; any:JOB when it has ended however it did. Repeatable."`
	Retries    int               `placeholder:"N" help:"Start it up to so many times more when it fails."`
	RetryOn    string            `placeholder:"CODES" help:"With --retries: only after these exit codes, as 1,75,100-110."`
	Site       string            `complete:"site" help:"The only site that may take it, and where it stays."`
	Keep       []string          `placeholder:"ARG[=MODE]" help:"Have data of this argument stay at the site of the job, under a handle that the job names: volatile, sticky or persistent (the default). Repeatable."`
	Owner      string            `help:"Who asks; default: USER."`
	Idempotent bool              `help:"Executing it twice does no harm."`
	RerunAfter time.Duration     `placeholder:"D" help:"Submit it anew, under a new ID, when for so long nobody can say what became of it. Needs --idempotent."`
	Label      map[string]string `help:"Words to keep with the job, key=value."`
}

// arguments returns what the client is to send to have a service executed. read makes an
// argument of its name and what was typed for it.
func (r *request) arguments(service string, now time.Time, read func(name, text string) client.Arg) ([]client.Arg, error) {
	var args []client.Arg
	if r.Width != nil {
		if *r.Width < 1 {
			return nil, &usageError{message: fmt.Sprintf("--width %d, accepted: 1 or more", *r.Width), hint: "without it the site chooses"}
		}
		args = append(args, client.Width(*r.Width))
	}
	if r.CPU != nil {
		if !(*r.CPU > 0 && *r.CPU <= 1) {
			return nil, &usageError{message: fmt.Sprintf("--cpu %g, accepted: above 0 and up to 1", *r.CPU), hint: "it is what each task can use of one processor; --width says how many there are"}
		}
		args = append(args, client.CPU(*r.CPU))
	}
	for _, a := range r.Args {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, &usageError{
				message: fmt.Sprintf("argument %q, accepted: name=value", a),
				hint:    fmt.Sprintf("drover services %s lists the arguments", service),
			}
		}
		args = append(args, read(name, value))
	}
	for _, d := range []struct {
		flag  string
		given *time.Duration
		arg   func(time.Duration) client.Arg
	}{
		{"walltime", r.Walltime, client.Walltime},
		{"deadline", r.Deadline, func(d time.Duration) client.Arg { return r.until(now.Add(d)) }},
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
	order, err := r.order(now)
	if err != nil {
		return nil, err
	}
	kept, err := toKeep(r.Keep)
	if err != nil {
		return nil, err
	}
	held, err := toHold(r.License)
	if err != nil {
		return nil, err
	}
	args = append(append(append(args, order...), kept...), held...)
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
