package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/seed-9b8f70bb/drover/batch/policy"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// cli is the command line.
type cli struct {
	JSON    bool `name:"json" help:"Print JSON with a versioned schema."`
	Version bool `help:"Print the version."`

	Repro  reproCmd  `cmd:"" help:"Compare our experiments with a paper's."`
	Rounds roundsCmd `cmd:"" help:"Measure how the time of a reallocation round grows with sites and jobs."`
	Bench  benchCmd  `cmd:"" help:"Measure live processes."`
}

// app is what the commands share.
type app struct {
	*cmdline.Process
	ctx   context.Context // ends with SIGINT or SIGTERM
	flags *cli
}

// run runs one command line and returns its exit code.
func run(p *cmdline.Process) int {
	var flags cli
	program := cmdline.Program{
		Name: "drover-lab",
		Parser: func() (*kong.Kong, error) {
			whole := policy.Names(func(e *policy.Entry) bool { return !e.Shares })
			return cmdline.NewParser(p, &flags, "drover-lab",
				"Measure Drover, and compare it with the papers it implements.",
				kong.Vars{"whole_policies": strings.Join(whole, ", ")})
		},
		Version: func() error {
			_, err := fmt.Fprintln(p.Stdout, "drover-lab", cmdline.BuiltFrom())
			return err
		},
		Command: func(ctx context.Context, parsed *kong.Context) error {
			return parsed.Run(&app{Process: p, ctx: ctx, flags: &flags})
		},
		Report: func(err error) int { return report(p, flags.JSON, err) },
	}
	return program.Run(p)
}

// errorView is an error with --json.
type errorView struct {
	Schema  string `json:"schema"`
	Code    int    `json:"code"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// report prints an error and returns the exit code.
func report(p *cmdline.Process, asJSON bool, err error) int {
	if err == nil {
		return cmdline.ExitOK
	}
	v := errorView{Schema: "drover.error/1", Code: codeOf(err), Message: err.Error()}
	if errors.Is(err, context.Canceled) && v.Code == cmdline.ExitFailure {
		v.Code = cmdline.ExitInterrupted
	}
	if e, ok := errors.AsType[*problem.Problem](err); ok {
		v.Reason, v.Hint = string(e.Reason), e.Hint
	}
	if e, ok := errors.AsType[*cmdline.UsageError](err); ok {
		v.Reason, v.Hint = "usage", e.Hint
	}
	if asJSON {
		if err := cmdline.WriteJSON(p.Stderr, v); err != nil {
			return cmdline.ExitFailure
		}
		return v.Code
	}
	_, _ = fmt.Fprintf(p.Stderr, "drover-lab: %s\n", v.Message)
	if v.Hint != "" {
		_, _ = fmt.Fprintf(p.Stderr, "hint: %s\n", v.Hint)
	}
	return v.Code
}

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	if code := cmdline.Code(err); code != cmdline.ExitFailure {
		return code
	}
	if e, ok := errors.AsType[*problem.Problem](err); ok {
		if e.Reason == problem.Unreachable || e.Reason == problem.Timeout {
			return cmdline.ExitUnavailable
		}
		return cmdline.ExitRefused
	}
	return cmp.Or(reproExit(err), cmdline.ExitFailure)
}
