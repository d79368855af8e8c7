package batch

import (
	"context"
	"time"
)

// System is what a site's driver may do to a local batch system, Slurm or
// embedded. It is not a core: it does I/O, and its methods may be called from
// several goroutines.
type System interface {
	// Do carries out commands in order. Each is idempotent by its Key: the same
	// command again changes nothing and succeeds. The error joins one
	// *CommandError for each command that was refused; the others were done.
	Do(ctx context.Context, cmds []Command) error
	// Snapshot returns all jobs and the capacity, other people's too.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Find says what became of attempts, after a crash of the caller. Attempts
	// it has never seen are left out.
	Find(ctx context.Context, keys []Key) ([]Found, error)
	// Watch returns the changes after the cursor, waiting for the first one
	// until ctx ends. An embedded system streams, Slurm is polled.
	Watch(ctx context.Context, after Cursor) (Changes, error)
	// Draft returns a copy of the plan as it is now, or an error that wraps
	// ErrNoDrafts.
	Draft(ctx context.Context) (Draft, error)
	// Caps says what this system can do.
	Caps() Caps
}

// Key names one attempt to run a job at a site. Every command carries it, so
// that a repeated or late one is recognized.
type Key struct {
	Job     JobID
	Epoch   uint32 // the job's move counter when this site got it
	Attempt uint32 // counts launches under one epoch
}

// CommandKind says what a Command wants.
type CommandKind uint8

// The commands of a server to its batch system.
const (
	CmdSubmit CommandKind = iota + 1 // queue the job
	// CmdReserve gives the job a place in the plan, but it may not start: a job
	// that is INCOMING. Repeated after CmdConfirm or CmdCancel it changes nothing.
	//
	// With Job.Window it sets Job.Shape.Width processors aside, for jobs that are
	// submitted Into it: an advance reservation, under a Key that no job has. It opens
	// and closes by itself; at its end what runs in it is killed, and what still waits
	// for it ends as EndStartFailed. It is refused with "no-room" if the plan cannot
	// hold it.
	CmdReserve
	CmdConfirm // let a reserved job wait like a submitted one from now on
	// CmdHold keeps a waiting job from starting, and takes it out of the plan. One
	// that is only reserved keeps its phase, but takes no capacity until CmdConfirm
	// puts it back where its reservation had put it.
	CmdHold
	CmdRelease // let a held job start: CmdPlace with its own shape and Restore
	// CmdPlace puts a waiting or held job into the plan with Command.Shape: as the
	// last one, or where its submission had put it if Command.Restore is set. It
	// changes nothing when the job waits, not held, with that shape and was placed
	// the same way before. A job that is only reserved, runs or has ended is
	// refused with "not-waiting".
	CmdPlace
	// CmdCancel takes it out, a reserved one too, and kills it when it runs. Of an
	// advance reservation it does so with the jobs in it, and gives the processors back.
	CmdCancel
)

// Command is one order to a batch system.
type Command struct {
	Kind CommandKind
	Key  Key
	// Job is what the planner is told, for CmdSubmit and CmdReserve. It is the
	// system's from Do on, without a copy: its caller changes it no more and submits
	// it nowhere else. He may go on reading it, for Handle, which is the system's own
	// business, is written before Do returns, and nothing else is.
	Job     *Job
	Shape   Shape // CmdPlace: what it gets from now on, instead of Job.Shape
	Restore bool  // CmdPlace: back to its place in the order of submission
	// Into, of CmdSubmit, is the advance reservation that the job runs in; zero for
	// none. One that is not there, or over, is refused with "no-reservation".
	Into Key
	// Promise, of CmdSubmit with Job.Agreed: refuse the job with "no-room" unless the
	// plan holds it until its deadline. Without, one that the plan cannot hold any
	// more is submitted without an agreement.
	Promise bool
	// After, of CmdSubmit, is an earlier attempt of the same job that has ended as
	// EndStopped: the policy hears of no new job, but that this one has stopped. One
	// that the system does not remember is no matter. It is cancelled if nothing is to
	// follow it.
	After Key
}

// Program is what a batch system executes. Its arguments never pass through a
// shell.
type Program struct {
	Args   []string          // argument vector; Args[0] is the command
	Env    map[string]string // beyond the system's own DROVER_* variables
	Dir    string            // working directory, made if it is not there
	Stdout string            // file
	Stderr string            // file
	Append bool              // neither file is truncated
	Launch Launch            // how often it is started
	// Checkpoint says how it makes place so that it can go on later; nil: it is stopped
	// where it is, and stays in memory.
	Checkpoint *Checkpoint
}

// CommandError is the refusal of one command.
type CommandError struct {
	Key    Key
	Reason string // a stable word: "unknown-job", "not-waiting", "too-wide", "closed"
	Err    error
}

// Error returns the refusal with its reason.
func (e *CommandError) Error() string {
	return string(e.Key.Job) + ": " + e.Reason + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Err }

// Phase is where an attempt is in a batch system.
type Phase uint8

// The phases of an attempt, in order.
const (
	PhaseReserved Phase = iota + 1 // has a place in the plan, may not start before CmdConfirm
	PhaseQueued
	PhaseHeld
	PhaseStarting // to be started, as the policy has decided; it holds its processors
	PhaseRunning  // it was launched
	PhasePaused
	PhaseEnded
)

// Found is what a batch system knows about one attempt.
type Found struct {
	Key   Key
	Phase Phase
	Shape Shape // of its submission, or of the last CmdPlace
	// Started is when the policy decided to start it: from then on it holds its
	// processors and its walltime counts, however long the launch takes. Zero
	// before.
	Started    time.Time
	Ended      time.Time        // zero before
	Nodes      []string         // names of where it runs or ran, each once
	Allocation []NodeAllocation // the same to the last processor, for Adopt; not to be changed
	Outcome    Outcome          // of PhaseEnded
}

// End says how an attempt ended.
type End uint8

// The ends of an attempt.
const (
	EndDone      End = iota + 1 // exit code 0
	EndFailed                   // another exit code or a signal
	EndKilled                   // at its walltime, or by the policy
	EndCancelled                // on order
	// EndStartFailed: it could not be launched, and could not the next time
	// either: a command that is missing, a directory that cannot be made.
	EndStartFailed
	// EndLost: it ran and is gone, but nobody has seen how it ended.
	EndLost
	// EndNeverRan: it provably never ran, for a reason that is not its own. A new
	// attempt may.
	EndNeverRan
	// EndStopped: it has written down how far it has come, and a new attempt goes on from
	// there; see Checkpoint.
	EndStopped
)

// Outcome is how an attempt ended and why.
type Outcome struct {
	End      End
	ExitCode int    // of EndDone and EndFailed by exit
	Signal   string // of EndFailed by signal
	Reason   string // for people: "exit status 3", "walltime of 90s"
}

// Cursor is a place in a system's stream of changes; the zero Cursor is its
// beginning. It is good for one life of the system only.
type Cursor uint64

// Changes is what happened after a cursor.
type Changes struct {
	Jobs []Found // the latest state of each attempt that changed
	Next Cursor
}

// Snapshot is a batch system's state.
type Snapshot struct {
	Taken    time.Time // when it was true
	Platform Platform
	Free     int32   // processors nothing runs on
	Running  []Found // Drover's own attempts
	Waiting  []Found // Drover's own, reserved and held ones too, in queue order
	Others   []Other // everybody else's jobs
}

// Other is a job of a batch system that Drover did not submit.
type Other struct {
	Shape   Shape
	Started time.Time // zero while it waits
	Planned time.Time // the system's own planned start; zero if it has none
}

// Caps is what a batch system can do.
type Caps struct {
	Promises     bool // its estimates are PROMISED
	Preemption   bool // Pause and Resume
	Checkpoint   bool // a stopped job can go on elsewhere
	Hold         bool // a waiting job can be held
	Reserve      bool // CmdReserve: a job can have its place before it may start
	Place        bool // CmdPlace: a job that waits can get another shape and place
	Reservations bool // windows can be set aside (advance reservations)
}
