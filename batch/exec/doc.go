// Package exec makes a batch system of a policy: it carries out what the policy
// decides as real processes on virtual nodes of this host, or on nodes that a Launcher
// reaches.
//
//	Do ─────────┐                        ┌─▶ policy.Apply, Decide
//	Estimate ───┤   calls    ┌───────────┴┐
//	Snapshot ───┼───────────▶│ event loop │── start ──▶ goroutine of one attempt
//	Watch ──────┘            │ (one       │               launch, wait, kill strays
//	timer ──────────────────▶│ goroutine) │◀── launched, ended ──┘
//	                         └────────────┘── TERM, KILL, STOP, CONT ──▶ group
//
// One goroutine, the loop, owns the policy and all state. A pass of it takes
// everything that is ready, tells the policy (ends first, submissions last),
// asks for one scheduling pass and carries out its decisions; questions are
// answered after it. Time is the Unix time in microseconds at which the system
// was made plus what a monotonic clock has counted since, so that it never goes
// back; see Now.
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
// Place is for a queued attempt too, and Cancel for all. A reserved attempt has a
// place in the plan, if the policy plans, and no decision of the policy can start
// it. Hold takes it out of the plan, and it stays reserved; its confirmation then
// puts it back where its reservation had put it. Place gives an attempt another
// shape: its processors, walltime, arguments and environment are from then on those
// of that shape.
//
// # Windows and agreements
//
//	CmdReserve with a Window ─▶ reserved ─ its start ─▶ open ─ its end ─▶ over
//
// The plan is asked before it is told of a window, or of a job with an agreement, at
// an instant of their own between two passes, so that nothing comes in between. A
// window opens and closes by itself; jobs submitted into it are the policy's to start.
// What runs in it at its end is killed, what waits for it then never starts. To cancel
// it is to end its jobs; when the last one is gone its processors are given back.
//
// # Drafts
//
// Draft forks the policy and copies the names of who is queued; the loop does no more
// than that. What is done to the copy are events of one instant: several that leave in
// a row are of one pass, a pass follows each submission, and who starts in it is not
// queued any more.
//
// # Starting
//
// From the policy's decision on an attempt has its processors and uses its
// walltime: it is starting. Its goroutine asks Programs what to run and the Launcher
// to run it, which may first have to make the decision durable or to claim the
// attempt for itself. Nobody hears of it as running before there is a process. What
// is ordered meanwhile, an end or a pause, is done to the process as soon as there
// is one.
//
// # Ends
//
// An attempt ends as its process did, unless it was being ended: then as it was
// told to, whatever its exit says. A launch that fails would fail again and ends it
// as EndStartFailed, one that wraps ErrNeverRan as EndNeverRan. Where nobody saw the
// exit it is EndLost.
//
// # Checkpoints
//
// A job whose program has a Checkpoint is paused by telling it so, with a signal, a
// command or both, and not before it has run for Checkpoint.After. One that ends with batch.CheckpointStatus has EndStopped; its
// processors are free, and the policy hears Stopped, when the next attempt has been
// submitted After it, which its Resume then launches:
//
//	Pause ─▶ told ─ exit 85 ─▶ EndStopped, parked ─ CmdSubmit After ─▶ queued ─ Resume
//	           ├── exit 0 ───▶ EndDone            └ CmdCancel ─▶ over
//	           └── other, or grace over ─▶ killed: EndKilled
//
// One that ends so without having been told has finished, for the policy; what follows
// is a job of its own.
//
// # Shares
//
// A program is launched with the share of a processor that each of its tasks has, and
// a Process that is a Sharer hears of every other one. Where nothing holds it to them
// they are booked and counted all the same.
//
// # Moving
//
//	Migrate ─┬─ no checkpoint: SetShares with the new allocation ─▶ Stopped, Resumed
//	         └─ told to make place ─ exit 85 ─▶ parked ─ CmdSubmit After ─▶ launched there
//	                                                     Stopped            Resumed
//
// Both the old allocation and the new ones are booked until the policy hears Stopped. As it
// runs a job can be moved, or woken elsewhere, only among virtual nodes of one host
// (Config.Hosts).
//
// # Nodes that leave
//
// SetNode tells of them. Nothing starts there any more; what runs there holds its
// allocation until its Process says how it has ended, Exit.Lost if nobody knows: when that
// may be said is for whoever follows the node. A launch that finds its node gone, and
// says with ErrNodeGone that nothing was sent, ends no attempt: the policy hears
// StartFailed, or Stopped if the job goes on from a checkpoint, and decides again. A
// paused job that ends leaves the policy by Cancel, and by Finish if it is resident.
//
// # Measured needs
//
// Config.Measurements hands on what tasks were found to need, as Measured.
//
// # Restarts
//
// Release ends a system whose jobs shall outlive it; the next one adopts them
// (Config.Adopt), with the allocation and the start that Found told of them. Windows are
// its caller's to remember: the next one sets them aside again (Config.Windows).
//
// # Processes
//
// An attempt is one process group. Its arguments never pass through a shell. At
// its walltime, counted while it is not paused and at full share, the group gets
// SIGTERM and after the grace time SIGKILL. When the first process of the group
// has ended the others are killed, and only when all are gone is the capacity
// given back. A process that leaves the group (setsid) is out of reach until
// there are control groups. Processes do not die with the server; Close ends
// them, and Release does not.
//
// # Decisions
//
//	Start     on Places, or anywhere: as many processors as the job is wide, of
//	          the lowest-numbered nodes that have any free (what a policy
//	          charges for memory beyond that is its own book-keeping)
//	Kill      SIGTERM, grace, SIGKILL; the attempt ends as killed
//	Pause     SIGSTOP to the group, and Stopped follows; or a Checkpoint, see there
//	Resume    SIGCONT, or another launch; Resumed follows when it is done
//	SetShare  booked and counted, and told to the process
//	Migrate   see Moving
//
// A decision that is refused, or that does not fit the job's state or the free
// capacity, means that policy and machine no longer agree. The system then
// faults: it logs a *DecisionError, asks the policy nothing more, starts nothing
// more, lets what runs come to its end under its walltime, and answers commands
// and estimates with the error, which Err returns too.
package exec
