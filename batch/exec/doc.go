// Package exec makes a batch system of a policy: it carries out what the policy
// decides as real processes on virtual nodes of this host.
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
//
// Place is for a queued attempt too, and Cancel for all three. A reserved attempt
// has a place in the plan, if the policy plans, and no decision of the policy can
// start it. Place gives an attempt another shape: its processors, walltime and
// environment are from then on those of that shape.
//
// # Processes
//
// An attempt is one process group. Its arguments never pass through a shell. At
// its walltime, counted while it is not paused and at full share, the group gets
// SIGTERM and after the grace time SIGKILL. When the first process of the group
// has ended the others are killed, and only when all are gone is the capacity
// given back. A process that leaves the group (setsid) is out of reach until
// there are control groups. Processes do not die with the server; Close ends
// them.
//
// # Decisions
//
//	Start     on Places, or anywhere: as many processors as the job is wide, of
//	          the lowest-numbered nodes that have any free (what a policy
//	          charges for memory beyond that is its own book-keeping)
//	Kill      SIGTERM, grace, SIGKILL; the attempt ends as killed
//	Pause     SIGSTOP to the group; Stopped follows, with a checkpoint
//	Resume    SIGCONT
//	SetShare  booked and counted, but nothing on the host enforces it
//	Migrate   refused
//
// A decision that is refused, or that does not fit the job's state or the free
// capacity, means that policy and machine no longer agree. The system then
// faults: it logs a *DecisionError, asks the policy nothing more, starts nothing
// more, lets what runs come to its end under its walltime, and answers commands
// and estimates with the error, which Err returns too.
package exec
