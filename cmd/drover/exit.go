package main

import (
	"errors"
	"io/fs"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/proto/problem"
	"github.com/seed-9b8f70bb/drover/server"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// exitByClass maps the class of a problem to an exit code.
var exitByClass = map[problem.Class]int{
	problem.Invalid:       cmdline.ExitRefused,
	problem.NotFound:      cmdline.ExitNotFound,
	problem.Conflict:      cmdline.ExitRefused,
	problem.Precondition:  cmdline.ExitRefused,
	problem.Exhausted:     cmdline.ExitUnavailable,
	problem.Aborted:       cmdline.ExitUnavailable,
	problem.Unavailable:   cmdline.ExitUnavailable,
	problem.TimedOut:      cmdline.ExitUnavailable,
	problem.Unimplemented: cmdline.ExitRefused,
	problem.Defect:        cmdline.ExitInternal,
}

// exitByReason lists the reasons with another exit code than their class.
var exitByReason = map[problem.Reason]int{
	problem.NoOffer:    cmdline.ExitNoOffer,
	problem.NoPromise:  cmdline.ExitNoOffer,
	problem.NoRoom:     cmdline.ExitNoOffer,
	problem.DataQuota:  cmdline.ExitNoOffer,
	problem.NoEstimate: cmdline.ExitUnavailable,
	problem.Unknown:    cmdline.ExitUnknown,
	problem.Ambiguous:  cmdline.ExitUsage,
}

// codeOfProblem returns the exit code of an error of the grid or the client.
func codeOfProblem(p *problem.Problem) int {
	if p.Reason == problem.NoCandidate && !p.Retryable { // every site has refused the request
		return cmdline.ExitRefused
	}
	if code, ok := exitByReason[p.Reason]; ok {
		return code
	}
	if code, ok := exitByClass[p.Reason.Class()]; ok {
		return code
	}
	if p.Retryable { // a reason that this program does not know
		return cmdline.ExitUnavailable
	}
	return cmdline.ExitRefused
}

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	if code, ok := errors.AsType[cmdline.ExitError](err); ok {
		return int(code)
	}
	if _, ok := errors.AsType[*ambiguousError](err); ok {
		return cmdline.ExitUsage
	}
	if _, ok := errors.AsType[*notSubmittedError](err); ok {
		return cmdline.ExitRefused
	}
	if _, ok := errors.AsType[*submission.UnknownError](err); ok {
		return cmdline.ExitUnknown
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return codeOfProblem(p)
	}
	var (
		agentField  *agent.FieldError
		serverField *server.FieldError
		services    *catalogue.LoadError
	)
	if cfg, ok := errors.AsType[*client.ConfigError](err); ok && !errors.Is(cfg, fs.ErrNotExist) {
		return cmdline.ExitConfig
	}
	if errors.As(err, &agentField) || errors.As(err, &serverField) || errors.As(err, &services) {
		return cmdline.ExitConfig
	}
	return cmdline.Code(err)
}

// codeOfJob returns the exit code for a job that has ended.
func codeOfJob(j *client.Job) int {
	switch j.State {
	case client.Done:
		return cmdline.ExitOK
	case client.Killed:
		return cmdline.ExitWalltime
	case client.Cancelled:
		return cmdline.ExitCancelled
	}
	if n, ok := signalNumbers[j.Outcome.Signal]; ok {
		return cmdline.ExitSignal + n
	}
	if c := j.Outcome.ExitCode; c > 0 && c < 256 {
		return c
	}
	return cmdline.ExitFailure
}

// signalNumbers has the signals that commonly end programs, by their numbers on Linux.
var signalNumbers = map[string]int{
	"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8,
	"SIGKILL": 9, "SIGUSR1": 10, "SIGSEGV": 11, "SIGUSR2": 12, "SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15,
	"SIGXCPU": 24, "SIGXFSZ": 25, "SIGSYS": 31,
}
