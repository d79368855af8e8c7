package main

import (
	"errors"
	"io/fs"

	"github.com/seed-9b8f70bb/drover/proto/problem"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/server"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// exitByReason are the codes of errors that the grid, or the client, gives.
var exitByReason = map[problem.Reason]int{
	problem.UnknownJob: cmdline.ExitNotFound, problem.UnknownService: cmdline.ExitNotFound, problem.UnknownOutput: cmdline.ExitNotFound, problem.UnknownSite: cmdline.ExitNotFound,
	problem.NoSite: cmdline.ExitUnavailable, problem.NoCandidate: cmdline.ExitUnavailable, problem.Unreachable: cmdline.ExitUnavailable, problem.Timeout: cmdline.ExitUnavailable,
	problem.Stopping: cmdline.ExitUnavailable, problem.QueueFull: cmdline.ExitUnavailable, problem.NoEstimate: cmdline.ExitUnavailable,
	problem.Draining: cmdline.ExitUnavailable, problem.DiskFull: cmdline.ExitUnavailable, problem.Recorded: cmdline.ExitUnavailable,
	problem.Internal: cmdline.ExitInternal, reasonNotEnded: cmdline.ExitUnavailable,

	problem.UnknownData: cmdline.ExitNotFound, problem.Ambiguous: cmdline.ExitUsage, problem.DataQuota: cmdline.ExitNoOffer,

	problem.NoOffer: cmdline.ExitNoOffer, problem.NoPromise: cmdline.ExitNoOffer, problem.NoRoom: cmdline.ExitNoOffer, problem.Unknown: cmdline.ExitUnknown,
	problem.UnknownReservation: cmdline.ExitNotFound, problem.TooManyReservations: cmdline.ExitUnavailable,
}

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	if _, ok := errors.AsType[*ambiguousError](err); ok {
		return cmdline.ExitUsage
	}
	if _, ok := errors.AsType[*notSubmittedError](err); ok {
		return cmdline.ExitRefused
	}
	if _, ok := errors.AsType[*submission.UnknownError](err); ok {
		return cmdline.ExitUnknown
	}
	if e, ok := errors.AsType[*problem.Problem](err); ok {
		if e.Reason == problem.NoCandidate && !e.Retryable { // each site has refused it for good
			return cmdline.ExitRefused
		}
		if code, ok := exitByReason[e.Reason]; ok {
			return code
		}
		return cmdline.ExitRefused
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

// codeOfJob returns the exit code that tells how a job ended.
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

// signalNumbers are those by which programs commonly end, as POSIX and Linux
// number them.
var signalNumbers = map[string]int{
	"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGKILL": 9,
	"SIGUSR1": 10, "SIGSEGV": 11, "SIGUSR2": 12, "SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15, "SIGXCPU": 24, "SIGXFSZ": 25, "SIGSYS": 31,
}
