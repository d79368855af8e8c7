// Package exec turns a policy into a batch system: it carries out the policy's
// decisions as real processes, on virtual nodes of this host or on nodes that a
// Launcher reaches.
//
//	Do ─────────┐                        ┌─▶ policy.Apply, Decide
//	Estimate ───┤   calls    ┌───────────┴┐
//	Snapshot ───┼───────────▶│ event loop │── start ──▶ goroutine of one attempt
//	Watch ──────┘            │ (one       │               launch, wait, kill strays
//	timer ──────────────────▶│ goroutine) │◀── launched, ended ──┘
//	                         └────────────┘── TERM, KILL, STOP, CONT ──▶ group
//
// One goroutine, the loop, owns the policy and all state. One pass of the loop takes
// all ready events, applies them to the policy (ends first, submissions last), asks
// for one scheduling pass and carries out its decisions. Queries are answered after
// it. Time is the Unix time in microseconds at which the system was created plus the
// reading of a monotonic clock, so it never goes back; see Now.
//
// # From a decision to a process
//
// Each layer has one verb:
//
//	policy          batch.Start             decides
//	System          start, execute          books the allocation; one goroutine for each attempt
//	Launcher        Launch                  the server makes STARTING durable first
//	pool.Pool       Launch                  divides the allocation among nodes
//	node.Host       Launch                  makes the control group, on the node of a task
//	supervisor      Client.Spawn, Spawn     claims the attempt
//	process.Reaper  Start                   forks the gate, which executes the program
//
// # Waiting
//
//	Reserve ─▶ reserved ─Confirm─┐
//	                             ▼  ───Hold──────────▶
//	Submit ───────────────────▶ queued                 held
//	                             │  ◀──Release, Place──
//	                           start
//	                             ▼
//	                          starting ── launched ──▶ running, paused
//
// Place also applies to a queued attempt, and Cancel to all. A reserved attempt has a
// slot in the plan, if the policy plans, and no decision of the policy can start it.
// Hold takes it out of the plan, but it stays reserved; Confirm puts it back where
// Reserve had put it. Place gives an attempt another shape, and with it the
// processors, walltime, arguments and environment of that shape.
//
// # Windows and agreements
//
//	CmdReserve with a Window ─▶ reserved ─ its start ─▶ open ─ its end ─▶ over
//
// The plan is asked before a window, or a job with an agreement, is added to it. This
// happens at an instant of its own between two passes, so nothing comes in between. A
// window opens and closes by itself; the policy starts the jobs submitted into it. At
// its end, running jobs in it are killed and waiting ones never start. Cancelling a
// window ends its jobs; when the last one is gone, its processors are freed.
//
// # Drafts
//
// Draft forks the policy and copies the names of queued jobs; the loop does no more
// than that. Changes to the copy are events of one instant: consecutive cancellations
// belong to one pass, a pass follows each submission, and a job that starts in it is
// no longer queued.
//
// # Starting
//
// From the policy's decision on, an attempt holds its processors and uses its
// walltime: it is starting. Its goroutine asks Programs what to run and the Launcher
// to run it. The Launcher may first make the decision durable or claim the attempt.
// The attempt is reported as running only once there is a process. An end or a pause
// that is requested before then is applied to the process as soon as it exists.
//
// # Ends
//
// An attempt ends as its process did, unless it was being ended: then its outcome is
// the requested one, whatever the exit status is. An attempt that fails to launch ends
// as EndStartFailed, because a retry would fail too, or as EndNeverRan if the error
// wraps ErrNeverRan. It ends as EndLost if its exit was not observed.
//
// # Checkpoints
//
// A job of a program with a Checkpoint is paused by asking the program to stop, with a
// signal, a command or both, and not before it has run for Checkpoint.After. A program
// that exits with batch.CheckpointStatus ends as EndStopped. Its processors are free,
// and the policy receives Stopped, when the next attempt has been submitted with After;
// Resume then launches that attempt:
//
//	Pause ─▶ asked ─ exit 85 ─▶ EndStopped, parked ─ CmdSubmit After ─▶ queued ─ Resume
//	           ├── exit 0 ────▶ EndDone            └ CmdCancel ─▶ over
//	           └── other, or grace over ─▶ killed: EndKilled
//
// A program that exits with this status without being asked has finished, for the
// policy; the attempt that follows is a new job to it.
//
// # Shares
//
// A program is launched with the share of a processor that each of its tasks has. A
// Launched that is a Sharer receives every later change. Where shares cannot be
// enforced, they are still booked and accounted for.
//
// # Moving
//
//	Migrate ─┬─ no checkpoint: SetShares with the new allocation ─▶ Stopped, Resumed
//	         └─ asked to stop ─ exit 85 ─▶ parked ─ CmdSubmit After ─▶ launched there
//	                                                Stopped            Resumed
//
// Both the old and the new allocation are booked until the policy receives Stopped. A
// running job can be moved, and a paused one resumed elsewhere, only among virtual
// nodes of one host (Config.Hosts).
//
// # Nodes that leave
//
// SetNode reports them. No job starts there any more. A job that runs there holds its
// allocation until its Launched reports the end, with Exit.Lost if the end was not
// observed; the component that follows the node decides when that is certain. A launch
// that fails with ErrNodeGone, because nothing was sent to the node, does not end the
// attempt: the policy receives StartFailed, or Stopped if the job continues from a
// checkpoint, and decides again. A paused job that ends leaves the policy by Cancel, or
// by Finish if it is resident.
//
// # Measured needs
//
// Config.Measurements supplies the measured needs of tasks, as Measured.
//
// # Restarts
//
// Release ends a system and leaves its jobs running. The next one adopts them
// (Config.Adopt) with the allocation and the start that Found reported. The caller
// stores windows and passes them to the next system (Config.Windows).
//
// # Processes
//
// An attempt is one process group. Its arguments never pass through a shell. At its
// walltime, which counts only while it is not paused and at full share, the group gets
// SIGTERM and after the grace time SIGKILL. When the first process of the group has
// ended, the others are killed, and capacity is freed only when all are gone. A process
// that leaves the group (setsid) escapes this unless it runs in a control group.
// Processes do not die with the server; Close ends them, and Release does not.
//
// # Decisions
//
//	Start     on Allocation, or anywhere: as many processors as the job is wide, of
//	          the lowest-numbered nodes that have any free (a policy may charge
//	          more for memory; that is its own accounting)
//	Kill      SIGTERM, grace, SIGKILL; the attempt ends as killed
//	Pause     SIGSTOP to the group, and Stopped follows; or a Checkpoint, see there
//	Resume    SIGCONT, or another launch; Resumed follows when it is done
//	SetShare  booked, counted, and passed to the process
//	Migrate   see Moving
//
// A decision that does not fit the job's state or the free capacity means that policy
// and machine no longer agree. The system then faults: it logs a *DecisionError, stops
// asking the policy, starts nothing more, lets running jobs end under their walltime,
// and answers commands and estimates with the error, which Err returns too.
package exec
