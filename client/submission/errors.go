package submission

import (
	"errors"
	"fmt"
	"time"
)

// errNoTarget is the failure of an agent with an empty ranking.
var errNoTarget = errors.New("the agent named no site")

// UnknownError is a submission that was sent to a server and not answered: whether the
// server accepted the job is unknown. The job may run.
type UnknownError struct {
	Job    string   // ID
	Target Target   // the only server that may have it
	After  Duration // since the first try
	Tries  int      // how often the server was asked to accept or to withdraw the job
	Err    error    // the last failure
}

// Error names the job, the site and what was tried.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("job %s: whether site %s has accepted it is unknown", e.Job, e.Target.Site)
	if e.After > 0 {
		text += fmt.Sprintf(" after %s and %s", span(e.After), tries(e.Tries))
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the last failure.
func (e *UnknownError) Unwrap() error { return e.Err }

// PatienceError is a failure that lasted longer than patience. A submission with this
// error was accepted by no server.
type PatienceError struct {
	Job    string   // ID; empty for a submission, and for calls that are about no job
	Target Target   // the server of the last try; zero for an agent
	After  Duration // since the first failure
	Tries  int      // consecutive failures
	Err    error    // the last relevant failure
}

// Error names the job, how long it was tried, and where.
func (e *PatienceError) Error() string {
	text := fmt.Sprintf("gave up after %s and %s: %v", span(e.After), tries(e.Tries), e.Err)
	if e.Target.Site != "" {
		text = fmt.Sprintf("gave up after %s and %s, the last at site %s: %v", span(e.After), tries(e.Tries),
			e.Target.Site, e.Err)
	}
	if e.Job != "" {
		text = "job " + e.Job + ": " + text
	}
	return text
}

// Unwrap returns the last failure.
func (e *PatienceError) Unwrap() error { return e.Err }

// HopsError is a job that moved more often than a pursuit follows.
type HopsError struct {
	Job string // ID
}

// Error names the job and the limit.
func (e *HopsError) Error() string {
	return fmt.Sprintf("job %s: moved more than %d times while it was followed", e.Job, MaxHops)
}

func tries(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

// span returns a duration for people, to the millisecond.
func span(d Duration) string {
	return (time.Duration(d) * time.Microsecond).Round(time.Millisecond).String()
}
