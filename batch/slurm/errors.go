package slurm

import (
	"errors"
	"fmt"
	"strings"
)

// UnreachableError says that nobody has answered: the controller is down, or too
// busy, or the programs cannot be run. What was asked may have been done if it was
// Sent. It says nothing about any job.
type UnreachableError struct {
	Command string // sbatch, squeue, …
	Sent    bool   // it may have reached the controller
	Text    string
}

// Error names the command and what is known.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s: the controller of Slurm cannot be reached: %s", e.Command, e.Text)
}

// RefusedError says that Slurm has answered, and that it has not done what was
// asked.
type RefusedError struct {
	Command string
	Code    int    // exit code of the command
	Text    string // what it printed, the part that says why
	// Again says that the same may be taken later: a limit, a moment's trouble.
	Again bool
}

// Error names the command and what Slurm says.
func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %s", e.Command, e.Text) }

// FormatError is output that is not as this package knows it.
type FormatError struct {
	Source string // the command, or the file
	Field  string
	Value  string // the beginning of it
}

// Error names the source, the field and the value.
func (e *FormatError) Error() string {
	return fmt.Sprintf("output of %s: %s: %.60q is not understood", e.Source, e.Field, e.Value)
}

// unreachable says whether an error means that nobody has answered.
func unreachable(err error) bool {
	var e *UnreachableError
	return errors.As(err, &e)
}

// maybeDone says whether what was asked may have been done in spite of an error.
func maybeDone(err error) bool {
	var e *UnreachableError
	return errors.As(err, &e) && e.Sent
}

// silences are how the programs say that the controller has not answered, from
// slurm_errno.c of 20.11 to 24.05. Those of the second part may have been sent.
var (
	silences = []string{
		"Unable to contact slurm controller",
		"Unable to contact slurm controller (connect failure)",
		"Connection refused",
		"Host is unreachable",
		"No route to host",
		"Could not establish a configuration source",
		"failed to fetch config",
		"Slurm backup controller in standby mode",
		"Protocol authentication error",
		"Munge",
	}
	interrupted = []string{
		"Zero Bytes were transmitted or received",
		"Socket timed out on send/recv operation",
		"Unexpected message received",
		"Connection reset",
		"Transport endpoint",
		"Header lengths are longer than data received",
		"Insane message length",
	}
	// passing are refusals that need not come again.
	passing = []string{
		"Resource temporarily unavailable",
		"temporarily unable to accept job",
		"temporarily unavailable",
		"job submit limit",
		"AssocMaxSubmitJobLimit",
		"MaxSubmitJob",
		"Too many jobs",
		"MaxJobCount",
		"reached maximum",
		"in the process of updating",
		"Slurmctld is currently being",
		"Job is in transistional state",
		"Job is in transitional state",
		"Requested partition configuration not available now",
		"Required partition not available (inactive or drain)",
		"Job/step already completing",
	}
)

// failure makes an error of what a program that failed has printed.
func failure(command string, code int, notes string) error {
	why := reason(notes)
	has := func(phrases []string) bool {
		for _, p := range phrases {
			if strings.Contains(notes, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has(interrupted):
		return &UnreachableError{Command: command, Sent: true, Text: why}
	case has(silences):
		return &UnreachableError{Command: command, Text: why}
	case code == 127 || code < 0: // killed, or not there
		return &UnreachableError{Command: command, Sent: true, Text: fmt.Sprintf("exit status %d: %s", code, why)}
	}
	return &RefusedError{Command: command, Code: code, Text: why, Again: has(passing)}
}

// reason returns the line of an error output that says most: the last one that is
// an error, without the program's name.
func reason(notes string) string {
	best := ""
	for line := range strings.Lines(notes) {
		line = strings.TrimSpace(line)
		_, text, ok := strings.Cut(line, "error: ")
		switch {
		case ok:
			best = text
		case best == "":
			best = line
		}
	}
	if best == "" {
		return "it does not say why"
	}
	const most = 300
	return best[:min(len(best), most)]
}
