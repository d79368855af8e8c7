// Package attempt holds the words for one attempt to run a job: its name, what became
// of it, and the token of the lease it runs on. The supervisor decides with them, its
// RPC interface and that of nodes carry them.
package attempt

import (
	"cmp"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

var (
	// ErrNoLease is returned for a launch that no lease covers: the lease has ended, or
	// the launch carries a token that is too old or comes from another supervisor.
	ErrNoLease = errors.New("no lease covers it")
	// ErrUnknown is returned for an attempt that a supervisor does not run: it has
	// ended, or no client has attached to it.
	ErrUnknown = errors.New("no such attempt is running here")
)

// Token records when a supervisor made it. Only that supervisor can read it. A lease
// ends its duration after the creation of the token that renewed it, however late the
// renewal arrives. A client that stops sending tokens therefore knows by its own clock
// when the lease must have ended.
type Token []byte

// Name names one attempt to run a job, and where its file is.
type Name struct {
	Key batch.Key
	Dir string // absolute, of the job's attempt files; its parent exists
}

// File returns the name of the attempt's file in its directory.
func (n Name) File() string { return journal.Name(n.Key.Epoch, n.Key.Attempt) }

// Mark returns the value of process.Mark in the environment of the attempt's processes.
func (n Name) Mark() string { return string(n.Key.Job) + "/" + n.File() }

// Compare orders names by job, epoch and attempt.
func (n Name) Compare(b Name) int {
	return cmp.Or(cmp.Compare(n.Key.Job, b.Key.Job), cmp.Compare(n.Key.Epoch, b.Key.Epoch),
		cmp.Compare(n.Key.Attempt, b.Key.Attempt))
}

// Condition is what became of an attempt.
type Condition uint8

// The conditions of an attempt.
const (
	Unclaimed Condition = iota + 1 // its file does not exist
	Barred                         // the server holds the claim: the attempt never runs
	NeverRan                       // claimed by a supervisor, but did not run and never will
	Failed                         // the program could not be executed, and a retry would fail too
	Running
	Exited   // with Status.Code
	Signaled // ended by Status.Signal
	Lost     // it may have run and is gone; its end was not observed
)

// String returns the condition for a log.
func (c Condition) String() string {
	names := [...]string{
		"unknown", "unclaimed", "barred", "never-ran", "failed", "running", "exited", "signaled", "lost",
	}
	if int(c) < len(names) {
		return names[c]
	}
	return "condition " + strconv.Itoa(int(c))
}

// Status is a condition with its details.
type Status struct {
	Condition Condition
	Code      int // of Exited the exit status, of Failed the error number or 0
	Signal    syscall.Signal
	Reason    string    // public message: why the attempt is NeverRan, Failed or Lost; else further detail
	Started   time.Time // when its process was created; zero without one
	Ended     time.Time
	Pid       int // of Running: the leader of its process group
	// Unsignaled: of Exited and Signaled if no signal to end reached the program through the
	// supervisor before it ended.
	Unsignaled bool
}

// NotExecutable reports whether an error number says that the program is missing or not executable,
// whatever its arguments are.
func NotExecutable(number int) bool { return process.NotExecutable(syscall.Errno(number)) }

// End is the end of an attempt.
type End struct {
	Name   Name
	Status Status
}

// Spec is what a supervisor runs for an attempt.
type Spec struct {
	process.Spec
	// Groups are the cgroup.procs files of the control groups that the process enters
	// before the program is executed.
	Groups []string
	// Token must be covered by the supervisor's lease, if it has one.
	Token Token
}

// Validate refuses what would depend on where the supervisor was started.
func (s *Spec) Validate() error {
	if len(s.Args) == 0 {
		return errors.New("arguments: accepted: at least one")
	}
	for _, path := range []string{s.Dir, s.Stdout, s.Stderr} {
		if path != "" && !filepath.IsAbs(path) {
			return errors.New("directory and outputs: accepted: absolute paths")
		}
	}
	for _, path := range s.Groups {
		if !filepath.IsAbs(path) || filepath.Base(path) != process.GroupFile || strings.ContainsAny(path, "\x00\n") {
			return errors.New("groups: accepted: absolute paths of files " + process.GroupFile)
		}
	}
	return nil
}
