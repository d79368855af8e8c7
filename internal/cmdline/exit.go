package cmdline

import (
	"errors"
	"io/fs"

	"github.com/seed-9b8f70bb/drover/sim"
	"github.com/seed-9b8f70bb/drover/sim/campaign"
	"github.com/seed-9b8f70bb/drover/sim/scenarios"
	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// Exit codes, as docs/scripting.md lists them. wait and call exit with the job's own code;
// Drover's codes are above those that programs use, and follow sysexits.h where it has
// the case.
const (
	ExitOK          = 0
	ExitFailure     = 1   // any other failure
	ExitUsage       = 64  // wrong flags or arguments
	ExitRefused     = 65  // the grid refuses the request, or input data is wrong
	ExitNotFound    = 66  // no such job, service, output or trace
	ExitUnavailable = 69  // no agent, site or server answers
	ExitInternal    = 70  // a defect of Drover
	ExitNoOffer     = 73  // no site can promise the deadline or reserve the processors
	ExitOutput      = 74  // stdout cannot be written
	ExitUnknown     = 75  // submitted without an answer: the job may have been accepted
	ExitConfig      = 78  // a configuration file is wrong
	ExitWalltime    = 124 // wait and call: killed at its walltime, as timeout(1) has it
	ExitCancelled   = 125 // wait and call: cancelled
	ExitSignal      = 128 // wait and call: plus the number of the signal that ended the job
	ExitInterrupted = 130 // SIGINT or SIGTERM ended the command
)

// ExitError ends a command with an exit code and prints nothing.
type ExitError int

func (ExitError) Error() string { return "" }

// UsageError is a mistake on the command line.
type UsageError struct {
	Message string
	Hint    string // what to do about it; can be empty
}

func (e *UsageError) Error() string { return e.Message }

// Code returns the exit code of an error that both programs can return; ExitFailure for
// others.
func Code(err error) int {
	if code, ok := errors.AsType[ExitError](err); ok {
		return int(code)
	}
	if _, ok := errors.AsType[*UsageError](err); ok {
		return ExitUsage
	}
	if _, ok := errors.AsType[*OutputError](err); ok {
		return ExitOutput
	}
	if code := codeOfSimulation(err); code != 0 {
		return code
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ExitNotFound
	}
	return ExitFailure
}

// codeOfSimulation returns the exit code of an error of the simulator or of a campaign,
// 0 for others.
func codeOfSimulation(err error) int {
	var (
		file     *campaign.FileError
		scenario *sim.ScenarioError

		noCampaign *campaign.UnknownError
		noTrace    *swf.TraceNotFoundError
		noScenario *scenarios.UnknownError

		locked *campaign.LockedError

		mismatch *campaign.MismatchError
		changed  *campaign.ChangedError
		damaged  *campaign.DamagedError
		horizon  *sim.HorizonError
		parse    *swf.ParseError
	)
	switch {
	case errors.As(err, &file), errors.As(err, &scenario):
		return ExitConfig
	case errors.As(err, &noCampaign), errors.As(err, &noTrace), errors.As(err, &noScenario):
		return ExitNotFound
	case errors.As(err, &locked):
		return ExitUnavailable
	case errors.As(err, &mismatch), errors.As(err, &changed), errors.As(err, &damaged),
		errors.As(err, &horizon), errors.As(err, &parse):
		return ExitRefused
	}
	return 0
}
