// Package site is the core of a server: what one site answers to requests, and
// the whole life of its jobs.
//
//	             Question                      shapes             starts
//	RPC face ──────────────▶ Quote, Quotes ──────────▶ Planner ──────────┐
//	   ▲                          ▲                                      │
//	   │ shape, wait, run         └────────── earliest completion ◀──────┘
//	   │
//	   └── Submit, Cancel, Move, ... ──▶ ┌──────┐        ┌─▶ Writes ──▶ disk; then
//	other sites ── Receive ────────────▶ │ jobs │─ Take ─┼─▶ Plans, Commands ──▶ batch system
//	batch system ─ Starting, Ended, ...▶ │      │        ├─▶ Claims ──▶ supervisor
//	supervisor ─── Claimed ────────────▶ └──────┘        └─▶ Messages ──▶ other sites
//
// # Tuning
//
// A site turns a request into a menu of shapes, by the service's performance model or by
// a model in the request. It asks a planner when each shape would start and chooses the
// one that completes first: moldable tuning, section 3.2.1 of the paper. A quote only
// reports the choice. A submission tunes again, because the queue has changed since the
// quote, and keeps the job.
//
// # Drafts
//
// A Draft is a copy of the site's plan (a batch.Draft) together with the jobs that can
// move, at one instant. It answers what the plan would be if some jobs left and others
// came. Its edits do not change the site.
//
//	Site ── Draft ─▶ Take, Put, Quotes, Standing ──▶ fork of the policy
//
// # Calls and effects
//
// The site is a state machine without clock, files and goroutines: the time is an
// argument. A call changes jobs in memory and collects effects until Take: records to
// write, commands to the batch system, claims and messages. A driver writes the records
// first and releases the rest, including the return values of the calls, only when they
// are on disk. If the write fails, the driver builds a new core from the disk, as after a
// crash; nothing that was lost has been visible outside. The simulator drives the same
// code. One goroutine at a time may use a Site.
//
// # A job's life
//
//	Submit ────────▶ WAITING ──▶ STARTING ──▶ RUNNING ──▶ DONE, FAILED, KILLED
//
//	WAITING ─ Hold ─▶ HELD ─ Place, or end of the lease ──▶ WAITING
//	Submit after others ─▶ HELD ─ dependencies satisfied ─▶ WAITING
//	                        └─ one has failed ─▶ CANCELLED
//	RUNNING ─ failed with retries left ─▶ WAITING, last in the queue
//
//	WAITING ─ Move ─▶ MOVING ─ Reserved ──▶ YIELDING ─ claim won ──▶ GONE
//	HELD ─── Place ─▶   └─ aborted: WAITING     └─ claim lost: STARTING
//
//	Reserve ───────▶ INCOMING ─ Confirm ──▶ WAITING
//	                    └─ Drop: its state before
//
// A HELD or MOVING job starts like a WAITING one. If an attempt provably did not run, the
// job is WAITING again, for another attempt.
//
// Cancel moves a job that waits, is held or is moving to CANCELLING by a claim, and one
// that was launched by a command to the batch system. From there it becomes CANCELLED or
// ends by itself. For a YIELDING or INCOMING job the cancel is only recorded. An ABSENT
// job is not here, but the site must remember that it was withdrawn, or an epoch that
// was aborted. life.go has the events of the batch system as a table.
//
// A job is launched once. The site writes STARTING before the launch. Then the creator of
// the attempt's claim, a file that is created exclusively, decides whether it runs: the
// supervisor that launches it, or this site, which withdraws the job. An attempt is named
// by the job, the epoch under which it came to the site, and a counter.
//
// # Dependencies
//
// A request can name jobs that must end before its own job starts. They must exist when
// it is submitted, so there are no cycles. Until the last of them has ended, the job keeps
// its position in the queue but has no slot in the plan, and rounds, moves and leases do
// not touch it. The site knows the ends of its own jobs. For others, Watch asks the driver
// to find out, and UpdateRemote reports the result. A silent site is unknown, not dead.
//
// # Moving
//
// Each attempt to move a job uses the next epoch, which the source S assigns and never
// assigns again. The epochs that a target T sees only increase.
//
//	     S                                             T
//	Move ─▶ MOVING(e) ── Reserve(e), the job ───────▶ INCOMING(e): a slot, no start
//	        weigh the gain ◀───────────── Reserved ──
//	        YIELDING(e): claim the attempt
//	        GONE(e), the commit point ── Confirm(e) ▶ WAITING, under e
//	        forget all but a tombstone ◀─ Confirmed ─
//
//	        aborted before GONE ── Drop(e) ─────────▶ its state before
//	        Pending, Aborted, Committed ◀─ Resolve(e)─ until it is answered
//
// S repeats Reserve and Confirm, and T repeats Resolve, until they are answered. Drop is
// sent once, because Resolve covers its loss. S keeps the result of every epoch that it
// assigned (Transit.Assigned), and the complete job until the Confirm is acknowledged. At
// most one site has authority over a job; between GONE and WAITING, the record at S and
// the slot at T are the handover. The rules were checked exhaustively as a model:
// docs/protocol/move.pml.
//
// # Memory
//
// A job that has ended is kept until Forget, and one that has left until the Confirm is
// acknowledged. Then a tombstone remains, which Take moves from memory to disk for
// Horizon. Before a call about a job that is not in memory, the driver loads its
// tombstone, if there is one, with Recall.
package site
