package campaign

import (
	"fmt"
	"strings"
)

// FileError lists the problems of a campaign file.
type FileError struct {
	File string
	Err  error // of package config: each problem with line and key
}

// Error lists the problems, one per line.
func (e *FileError) Error() string {
	return fmt.Sprintf("campaign %s:\n  %s", e.File, strings.ReplaceAll(e.Err.Error(), "\n", "\n  "))
}

// Unwrap returns the problems.
func (e *FileError) Unwrap() error { return e.Err }

// UnknownError reports a name that is neither a file nor an included campaign.
type UnknownError struct {
	Name  string
	Known []string
}

// Error lists the included campaigns.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("campaign %q: no such file, accepted: %s, or the path of a campaign file", e.Name,
		strings.Join(e.Known, ", "))
}

// LockedError reports that another process uses the folder.
type LockedError struct{ Dir string }

// Error names the remedy.
func (e *LockedError) Error() string {
	return fmt.Sprintf("folder %s: another process writes results there, accepted: another folder, or wait until it "+
		"has ended", e.Dir)
}

// MismatchError reports results of another campaign in the folder.
type MismatchError struct {
	Dir         string
	Differences []string
}

// Error names the differences and the remedy.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("folder %s has results of another campaign:\n  %s\n"+
		"accepted: another folder, the campaign as it was, or remove the folder to start again",
		e.Dir, strings.Join(e.Differences, "\n  "))
}

// DamagedError reports a broken line in the journal before the last one.
type DamagedError struct {
	File string
	Line int
	What string
}

// Error names the remedy.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s:%d: %s, accepted: a journal as drover wrote it; cut it before that line, or remove the "+
		"folder to start again", e.File, e.Line, e.What)
}

// ChangedError reports a reference that differs from the journal: old and new rows are not
// comparable.
type ChangedError struct {
	Dir        string
	Experiment string
	Column     string
	Was, Is    string
}

// Error names the remedy.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("folder %s: %s: %s was %s and is %s now: drover has changed since; remove the folder to start "+
		"again, or take another",
		e.Dir, e.Experiment, e.Column, orNothing(e.Was), orNothing(e.Is))
}

func orNothing(text string) string {
	if text == "" {
		return "empty"
	}
	return text
}

// InterruptedError reports that a campaign was stopped before its end.
type InterruptedError struct {
	Done, Total int
	Dir         string
	Err         error
}

// Error explains how to resume.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("interrupted: %d of %d experiments are in %s; the same command resumes with the others", e.Done,
		e.Total, e.Dir)
}

// Unwrap returns the cause.
func (e *InterruptedError) Unwrap() error { return e.Err }
