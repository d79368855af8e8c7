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
	// Snapshot returns all jobs, those of other users too, and the capacity.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Find reports the state of attempts, after a crash of the caller. It leaves out
	// attempts that it has never seen.
	Find(ctx context.Context, keys []Key) ([]Found, error)
	// Watch returns the changes after the cursor. It waits for the first one until ctx
	// ends.
	Watch(ctx context.Context, after Cursor) (Changes, error)
	// Draft returns a copy of the current plan, or an error that wraps ErrNoDrafts.
	Draft(ctx context.Context) (Draft, error)
	// Caps returns the capabilities of the system.
	Caps() Caps
}

// Key names one attempt to run a job at a site. Every command carries it, so
// that repeated and late commands are recognized.
type Key struct {
	Job     JobID
	Epoch   uint32 // the job's move counter when this site got it
	Attempt uint32 // counts launches under one epoch
}

// CommandKind is the kind of a Command.
type CommandKind uint8

// The commands of a server to its batch system.
const (
	CmdSubmit CommandKind = iota + 1 // queue the job
	// CmdReserve gives an INCOMING job a slot in the plan; it must not start. Repeated
	// after CmdConfirm or CmdCancel it changes nothing.
	//
	// With Job.Window it is an advance reservation under a Key of its own: it books
	// Job.Shape.Width processors for jobs that are submitted Into it. The window opens
	// and closes by itself. At its end, jobs that run in it are killed and jobs that wait
	// for it end as EndStartFailed. It is refused with "no-room" if the plan cannot hold
	// it.
	CmdReserve
	CmdConfirm // lets a reserved job wait like a submitted one
	// CmdHold takes a waiting job out of the plan, so that it cannot start. A reserved
	// job keeps its phase but takes no capacity until CmdConfirm puts it back at the
	// position of its reservation.
	CmdHold
	CmdRelease // lets a held job start: CmdPlace with its own shape and Restore
	// CmdPlace puts a waiting or held job into the plan with Command.Shape: as the
	// last one, or where its submission had put it if Command.Restore is set. It
	// changes nothing when the job waits, not held, with that shape and was placed
	// the same way before. A job that is only reserved, runs or has ended is
	// refused with "not-waiting".
	CmdPlace
	// CmdCancel removes a waiting or reserved job and kills a running one. For an
	// advance reservation it does so with all its jobs and releases the processors.
	CmdCancel
)

// Command is one order to a batch system.
type Command struct {
	Kind CommandKind
	Key  Key
	// Job is the job for the planner, for CmdSubmit and CmdReserve. The system owns it
	// from Do on, without a copy: the caller must not change it or submit it elsewhere,
	// but may read it. The system writes Handle before Do returns, and nothing else.
	Job     *Job
	Shape   Shape // CmdPlace: replaces Job.Shape
	Restore bool  // CmdPlace: at its position in submission order
	// Into is the advance reservation of CmdSubmit's job; zero for none. An unknown or
	// ended one is refused with "no-reservation".
	Into Key
	// Promise, for CmdSubmit with Job.Agreed, refuses the job with "no-room" unless the
	// plan completes it by its deadline. Without it, a job that the plan can no longer
	// complete in time is submitted without an agreement.
	Promise bool
	// After, for CmdSubmit, is an earlier attempt of the same job that ended as
	// EndStopped. The policy then sees that job continue instead of a new one. An
	// unknown attempt is ignored. CmdCancel of it says that none follows.
	After Key
}

// CommandError is the refusal of one command.
type CommandError struct {
	Key    Key
	Reason string // a stable word: "unknown-job", "not-waiting", "too-wide", "closed"
	Err    error
}

// Error returns the job, the reason and the cause.
func (e *CommandError) Error() string {
	return string(e.Key.Job) + ": " + e.Reason + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Err }

// Phase is the state of an attempt in a batch system.
type Phase uint8

// The phases of an attempt, in order.
const (
	PhaseReserved Phase = iota + 1 // has a slot in the plan, must not start before CmdConfirm
	PhaseQueued
	PhaseHeld
	PhaseStarting // the policy has started it: it holds its processors
	PhaseRunning  // launched
	PhasePaused
	PhaseEnded
)

// Found is the state of one attempt in a batch system.
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

// End is how an attempt ended.
type End uint8

// The ends of an attempt.
const (
	EndDone      End = iota + 1 // exit code 0
	EndFailed                   // another exit code or a signal
	EndKilled                   // at its walltime, or by the policy
	EndCancelled                // by CmdCancel
	// EndStartFailed: it could not be launched and another attempt would fail too, for
	// example because its arguments are too long.
	EndStartFailed
	// EndLost: it ran and is gone, and its end was not seen.
	EndLost
	// EndNeverRan: it provably never ran, through no fault of its own. A new attempt may
	// run.
	EndNeverRan
	// EndStopped: it saved its progress, and a new attempt continues from there; see
	// Checkpoint.
	EndStopped
)

// Outcome is how an attempt ended and why.
type Outcome struct {
	End      End
	ExitCode int    // of EndDone and EndFailed by exit
	Signal   string // of EndFailed by signal
	// HostFault: of EndNeverRan if the host lacked something (files, memory, disk). Such
	// attempts do not count.
	HostFault bool
	// NotExecutable: of EndStartFailed if the program is missing or not executable there: no job of
	// its service can run now.
	NotExecutable bool
	Reason        string // for people: "exit status 3", "walltime of 90s"
}

// Cursor is a position in a system's stream of changes; the zero Cursor is its
// beginning. It is valid for one life of the system.
type Cursor uint64

// Changes are the changes after a cursor.
type Changes struct {
	Jobs []Found // the latest state of each attempt that changed
	Next Cursor
}

// Snapshot is a batch system's state.
type Snapshot struct {
	Taken    time.Time // instant of the state
	Platform Platform
	Free     int32   // idle processors
	Running  []Found // Drover's attempts
	Waiting  []Found // Drover's attempts, reserved and held ones too, in queue order
	Others   []Other // other users' jobs
}

// Other is a job of a batch system that Drover did not submit.
type Other struct {
	Shape   Shape
	Started time.Time // zero while it waits
	Planned time.Time // the system's own planned start; zero if it has none
}

// Caps are the capabilities of a batch system.
type Caps struct {
	Promises     bool // its estimates are PROMISED
	Preemption   bool // Pause and Resume
	Checkpoint   bool // a stopped job can continue elsewhere
	Hold         bool // a waiting job can be held
	Reserve      bool // CmdReserve: a job can have a slot before it may start
	Place        bool // CmdPlace: a waiting job can get another shape and slot
	Reservations bool // advance reservations
}
