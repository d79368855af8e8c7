package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
)

// errorJSON is an error on stderr with --json: the fields of an ErrorDetail and those of
// the command line.
type errorJSON struct {
	Reason    problem.Reason `json:"reason,omitempty"`
	Field     string         `json:"field,omitempty"`
	Accepted  string         `json:"accepted,omitempty"`
	Message   string         `json:"message"`
	Hint      string         `json:"hint,omitempty"`
	Retryable bool           `json:"retryable,omitempty"`
	Offer     *problem.Offer `json:"offer,omitempty"` // the nearest alternative

	ExitCode int      `json:"exitCode"`
	JobID    string   `json:"jobId,omitempty"`  // of a job that may have been accepted
	JobIDs   []string `json:"jobIds,omitempty"` // that an ambiguous name fits
	Line     int      `json:"line,omitempty"`   // of submit --from
	Index    *int     `json:"index,omitempty"`  // of submit --array
}

// joinLines replaces the line breaks of a list of problems.
var joinLines = strings.NewReplacer(":\n  ", ": ", "\n  ", "; ", "\n", "; ")

// describe returns the JSON of an error with its hint.
func describe(err error, code int) errorJSON {
	v := errorJSON{ExitCode: code, Message: joinLines.Replace(err.Error())}
	if e, ok := errors.AsType[*problem.Problem](err); ok {
		v.Reason, v.Field, v.Accepted, v.Hint, v.Retryable = e.Reason, e.Field, e.Accepted, e.Hint, e.Retryable
		v.Offer = e.Offer
	}
	if _, ok := errors.AsType[*noGridError](err); ok {
		v.Hint = "no grid was named by --agent, DROVER_AGENTS or DROVER_CONFIG, and none runs on this host: " +
			"drover demo --keep starts one to try, drover agent and drover server start your own"
	}
	if e, ok := errors.AsType[*cmdline.UsageError](err); ok {
		v.Reason, v.Hint = "usage", e.Hint
	}
	if e, ok := errors.AsType[*ambiguousError](err); ok {
		v.Reason, v.Hint = problem.Ambiguous, "give more of the ID"
		for _, j := range e.matches {
			v.JobIDs = append(v.JobIDs, j.ID)
		}
	}
	if _, ok := errors.AsType[*notSubmittedError](err); ok {
		v.Reason = "not-submitted"
	}
	if _, ok := errors.AsType[*nothingError](err); ok {
		v.Hint = strings.TrimPrefix(v.Hint+"; nothing was submitted", "; ")
	}
	if e, ok := errors.AsType[*submission.UnknownError](err); ok {
		v.Reason, v.JobID, v.Retryable = problem.Unknown, e.Job, false
		v.Hint = fmt.Sprintf("it may run; drover job %s shows it", e.Job)
	}
	if e, ok := errors.AsType[*submission.PatienceError](err); ok && e.Job != "" {
		v.JobID = e.Job
		if e.Target.Site != "" {
			v.Hint = fmt.Sprintf("the job's state is unknown while site %s is silent; try again later, or with a "+
				"longer --patience",
				e.Target.Site)
		}
	}
	return v
}

// writeLine writes a value as JSON on one line.
func writeLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// report prints an error and returns the exit code.
func report(p *cmdline.Process, asJSON bool, err error) int { return reportEntry(p, asJSON, err, nil) }

// reportEntry is report for one of many requests; e is nil for any other error.
func reportEntry(p *cmdline.Process, asJSON bool, err error, e *entry) int {
	if err == nil {
		return cmdline.ExitOK
	}
	code := codeOf(err)
	if errors.Is(err, context.Canceled) && code == cmdline.ExitFailure {
		code = cmdline.ExitInterrupted
	}
	v := describe(err, code)
	write := cmdline.WriteJSON
	if e != nil {
		v.Line, v.Index, write = e.line, e.index, writeLine
	}
	switch {
	case v.Message == "":
	case asJSON:
		if err := write(p.Stderr, v); err != nil {
			return cmdline.ExitFailure
		}
	default:
		_, _ = fmt.Fprintf(p.Stderr, "drover: %s\n", v.Message)
		if v.Hint != "" {
			_, _ = fmt.Fprintf(p.Stderr, "hint: %s\n", v.Hint)
		}
	}
	return code
}
