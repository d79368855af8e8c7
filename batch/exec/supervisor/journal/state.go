package journal

import (
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// Kind says what makes a claim.
type Kind string

// Who makes claims.
const (
	Supervisor Kind = "supervisor" // to run the attempt
	Server     Kind = "server"     // to keep it from running
)

// Claimer makes a claim.
type Claimer struct {
	Kind Kind
	By   string // which supervisor; a server needs no name
}

// State is what a file says. The zero State is that of an attempt that nobody
// has claimed.
type State struct {
	Claimer Claimer   // Kind is "" when there is none
	Claimed time.Time // when

	Run     process.ID // the process at the gate; Pid is 0 when there was none
	Started time.Time  // when it was written down

	End End // Kind is 0 before
}

// EndKind says how an attempt ended.
type EndKind uint8

// The ends of an attempt.
const (
	Exited   EndKind = iota + 1 // with End.Code
	Signaled                    // by End.Signal
	Failed                      // it could not be executed, for End.Reason
	Never                       // it never ran and never will, for End.Reason
	Lost                        // it may have run and its end was not seen, for End.Reason
)

// End is how an attempt ended.
type End struct {
	Kind   EndKind // 0: not known to have ended
	Code   int
	Signal string // its name: SIGKILL
	Reason string
	At     time.Time
}

// DamagedError is a file that is not what this package writes.
type DamagedError struct {
	File string
	Line int // from 1
	Err  error
}

// Error names the file, the line and what is wrong with it.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("attempt file %s, line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }
