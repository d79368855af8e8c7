package journal

import (
	"fmt"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// Kind is the kind of a claimer.
type Kind string

// The claimers.
const (
	Supervisor Kind = "supervisor" // in order to run the attempt
	Server     Kind = "server"     // in order to prevent it from running
)

// Claimer identifies the creator of a claim.
type Claimer struct {
	Kind Kind
	By   string // which supervisor; "" for a server
}

// State is the content of a file. The zero State is an unclaimed attempt.
type State struct {
	Claimer Claimer // Kind is "" without a claim
	Claimed time.Time

	Run     process.ID // the process at the gate; Pid is 0 without one
	Started time.Time  // when Run was recorded

	End End // Kind is 0 before the end
}

// EndKind says how an attempt ended.
type EndKind uint8

// The ends of an attempt.
const (
	Exited   EndKind = iota + 1 // with End.Code
	Signaled                    // by End.Signal
	Failed                      // it could not be executed, for End.Reason; End.Code is the error number or 0
	Never                       // it never ran and never will, for End.Reason
	Lost                        // it may have run and its end was not observed, for End.Reason
)

// End is how an attempt ended.
type End struct {
	Kind   EndKind // 0: no end is known
	Code   int
	Signal string // its name, such as SIGKILL
	Reason string
	// Unsignaled: of Exited and Signaled if no signal to end reached the program before it ended.
	Unsignaled bool
	At         time.Time
}

// DamagedError is a file that does not have the format of this package.
type DamagedError struct {
	File string
	Line int // from 1
	Err  error
}

// Error names the file, the line and the cause.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("attempt file %s, line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }
