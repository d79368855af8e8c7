package main

import (
	"errors"
	"io/fs"

	"github.com/seed-9b8f70bb/drover/agent"
	"github.com/seed-9b8f70bb/drover/client"
	"github.com/seed-9b8f70bb/drover/client/submission"
	"github.com/seed-9b8f70bb/drover/server"
	"github.com/seed-9b8f70bb/drover/server/catalogue"
)

// Exit codes, as docs/cli.md lists them. wait and call exit with the job's own
// code in the first place; those of drover itself are above the ones that
// programs use, and where sysexits.h has a word for it they are its own.
const (
	exitOK          = 0
	exitFailure     = 1   // none of the below
	exitUsage       = 64  // wrong flags or arguments of the command line
	exitRefused     = 65  // the grid refuses the request, or input data is wrong
	exitNotFound    = 66  // no such job, service, output or trace
	exitUnavailable = 69  // no agent, site or server that answers
	exitInternal    = 70  // a defect of Drover's own
	exitNoOffer     = 73  // nobody can promise the deadline, or set the processors aside
	exitOutput      = 74  // stdout cannot be written
	exitUnknown     = 75  // submitted, and no answer: it may have been accepted
	exitConfig      = 78  // a configuration file is wrong
	exitWalltime    = 124 // of wait and call: killed at its walltime, as timeout(1) says it
	exitCancelled   = 125 // of wait and call: cancelled
	exitSignal      = 128 // of wait and call: plus the number of the signal that ended it
	exitInterrupted = 130 // SIGINT or SIGTERM ended the command
)

// exitError ends a command with a code, and says nothing more.
type exitError int

func (exitError) Error() string { return "" }

// usageError is what is wrong with a command line.
type usageError struct {
	message string
	hint    string
}

func (e *usageError) Error() string { return e.message }

// exitByReason are the codes of errors that the grid, or the client, gives.
var exitByReason = map[string]int{
	"unknown-job": exitNotFound, "unknown-service": exitNotFound, "unknown-output": exitNotFound, "unknown-site": exitNotFound,
	"no-site": exitUnavailable, "no-candidate": exitUnavailable, "unreachable": exitUnavailable, "timeout": exitUnavailable,
	"stopping": exitUnavailable, "queue-full": exitUnavailable, "no-estimate": exitUnavailable,
	"draining": exitUnavailable, "disk-full": exitUnavailable, client.ReasonRecorded: exitUnavailable,
	"internal": exitInternal, reasonNotEnded: exitUnavailable,

	client.ReasonUnknownData: exitNotFound, client.ReasonAmbiguous: exitUsage, "data-quota": exitNoOffer,

	client.ReasonNoOffer: exitNoOffer, client.ReasonNoPromise: exitNoOffer, "no-room": exitNoOffer, client.ReasonUnknown: exitUnknown,
	"unknown-reservation": exitNotFound, "too-many-reservations": exitUnavailable,
}

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*ambiguousError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*outputError](err); ok {
		return exitOutput
	}
	if _, ok := errors.AsType[*notSubmittedError](err); ok {
		return exitRefused
	}
	if _, ok := errors.AsType[*submission.UnknownError](err); ok {
		return exitUnknown
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		if e.Reason == "no-candidate" && !e.Retryable { // each site has refused it for good
			return exitRefused
		}
		if code, ok := exitByReason[e.Reason]; ok {
			return code
		}
		return exitRefused
	}
	var (
		agentField  *agent.FieldError
		serverField *server.FieldError
		services    *catalogue.LoadError
	)
	if client.CodeOf(err) == client.ConfigfileError || errors.As(err, &agentField) || errors.As(err, &serverField) || errors.As(err, &services) {
		return exitConfig
	}
	if code := simExit(err); code != 0 {
		return code
	}
	if errors.Is(err, fs.ErrNotExist) {
		return exitNotFound
	}
	return exitFailure
}

// codeOfJob returns the exit code that tells how a job ended.
func codeOfJob(j *client.Job) int {
	switch j.State {
	case client.Done:
		return exitOK
	case client.Killed:
		return exitWalltime
	case client.Cancelled:
		return exitCancelled
	}
	if n, ok := signalNumbers[j.Outcome.Signal]; ok {
		return exitSignal + n
	}
	if c := j.Outcome.ExitCode; c > 0 && c < 256 {
		return c
	}
	return exitFailure
}

// signalNumbers are those by which programs commonly end, as POSIX and Linux
// number them.
var signalNumbers = map[string]int{
	"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGILL": 4, "SIGTRAP": 5, "SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGKILL": 9,
	"SIGUSR1": 10, "SIGSEGV": 11, "SIGUSR2": 12, "SIGPIPE": 13, "SIGALRM": 14, "SIGTERM": 15, "SIGXCPU": 24, "SIGXFSZ": 25, "SIGSYS": 31,
}
