package campaign

import (
	"fmt"
	"strings"
)

// FileError is everything that is wrong with a campaign file.
type FileError struct {
	File string
	Err  error // of package config: each problem with its line and key
}

// Error lists the problems, one a line.
func (e *FileError) Error() string {
	return fmt.Sprintf("campaign %s:\n  %s", e.File, strings.ReplaceAll(e.Err.Error(), "\n", "\n  "))
}

// Unwrap returns the problems.
func (e *FileError) Unwrap() error { return e.Err }

// UnknownError is a campaign that is neither a file nor comes with Drover.
type UnknownError struct {
	Name  string
	Known []string
}

// Error lists the campaigns that come with Drover.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("campaign %q: no such file, accepted: %s, or the path of a campaign file", e.Name,
		strings.Join(e.Known, ", "))
}

// LockedError is a folder in which another process is at work.
type LockedError struct{ Dir string }

// Error says what to do.
func (e *LockedError) Error() string {
	return fmt.Sprintf("folder %s: another process writes results there, accepted: another folder, or wait until it has ended", e.Dir)
}

// MismatchError is a folder with results of another campaign.
type MismatchError struct {
	Dir         string
	Differences []string
}

// Error says what differs and what to do.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("folder %s has results of another campaign:\n  %s\naccepted: another folder, the campaign as it was, or remove the folder to start again",
		e.Dir, strings.Join(e.Differences, "\n  "))
}

// DamagedError is a journal with a broken line that is not its last.
type DamagedError struct {
	File string
	Line int
	What string
}

// Error says what to do.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s:%d: %s, accepted: a journal as drover wrote it; cut it before that line, or remove the folder to start again", e.File, e.Line, e.What)
}

// ChangedError is a reference whose figures differ from those in the journal: old and new
// rows would not be comparable.
type ChangedError struct {
	Dir        string
	Experiment string
	Column     string
	Was, Is    string
}

// Error says what to do.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("folder %s: %s: %s was %s and is %s now: drover has changed since; remove the folder to start again, or take another",
		e.Dir, e.Experiment, e.Column, orNothing(e.Was), orNothing(e.Is))
}

func orNothing(text string) string {
	if text == "" {
		return "empty"
	}
	return text
}

// InterruptedError is a campaign that was ended before its end.
type InterruptedError struct {
	Done, Total int
	Dir         string
	Err         error
}

// Error says how to resume.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("interrupted: %d of %d experiments are in %s; the same command resumes with the others", e.Done,
		e.Total, e.Dir)
}

// Unwrap returns why it was ended.
func (e *InterruptedError) Unwrap() error { return e.Err }
