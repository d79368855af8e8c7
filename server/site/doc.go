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
// A site turns a request into a menu of shapes (by the service's performance
// model, or one that the request brings along), asks a planner when each of
// them would start, and takes the one that would be completed first: moldable
// tuning, section 3.2.1 of the paper. A quote only says so; a submission tunes
// anew, because the queue has changed since the quote, and keeps the job.
//
// # Drafts
//
// A Draft is the site's tuning around a copy of the plan (a batch.Draft), with what
// may be moved of its jobs, at one instant: what would be if these had left and
// those had come? Its edits change nothing here.
//
//	Site ── Draft ─▶ Take, Put, Quotes, Standing ──▶ fork of the policy
//	  └─ goes on
//
// # Calls and effects
//
// The site is a plain state machine. It has no clock, reads no file and starts
// nothing: now is an argument. A call changes jobs in memory, and what follows
// from that gathers until Take: records to be made durable, and orders to the
// batch system, claims and messages, none of which may leave before the records
// are on the disk. The same goes for what the call has returned. A driver whose
// write fails makes the core anew from the disk, as after a crash, and nobody has
// heard of what is lost. The simulator drives the same code. One goroutine at a
// time may use a Site.
//
// # A job's life
//
//	Submit ────────▶ WAITING ──▶ STARTING ──▶ RUNNING ──▶ DONE, FAILED, KILLED
//
//	WAITING ─ Hold ─▶ HELD ─ Place, or the lease ends ──▶ WAITING
//	Submit after others ─▶ HELD ─ they have ended as they must ─▶ WAITING
//	                        └─ one has ended otherwise ─▶ CANCELLED
//	RUNNING ─ failed, and its request has retries left ─▶ WAITING, as the last one
//
//	WAITING ─ Move ─▶ MOVING ─ Reserved ──▶ YIELDING ─ claim won ──▶ GONE
//	HELD ─── Place ─▶   └─ aborted: WAITING     └─ claim lost: STARTING
//
//	Reserve ───────▶ INCOMING ─ Confirm ──▶ WAITING
//	                    └─ Drop: what it was before
//
// A job that is HELD or MOVING starts like one that is WAITING. An attempt that
// provably never ran leads back to WAITING and to another one.
//
// Cancel takes what waits, is held or moved to CANCELLING by a claim, what was
// launched by an order to the batch system, and from there to CANCELLED or to the
// job's own end. Of what is YIELDING or INCOMING it is recorded only. ABSENT is a
// job that is not here, of which something has to be remembered: that it was
// withdrawn, or an epoch that came to nothing. life.go has the events of the batch
// system as a table.
//
// A job is launched once. The site writes STARTING before the launch, and whoever
// makes the claim of an attempt (one file, created exclusively) decides whether it
// runs: the supervisor that launches it, or this site, which wants the job out. An
// attempt is named by (job, the epoch under which the site got it, a counter).
//
// # One after the other
//
// A request can name jobs that have to end before its own may start. They have to be
// there when it is submitted, so no circle can arise. Until the last of them has ended
// the job keeps its place in the order, has none in the plan, and is left alone by
// rounds, moves and leases. Of those that are here the site knows by itself; of
// others Watch asks the driver to find out, and Heard brings the answer. Nobody who is
// silent has ended.
//
// # Moving
//
// Each attempt to move a job takes its next epoch, which the source S assigns and
// burns. What a target T sees of a job only ever goes to higher epochs.
//
//	     S                                             T
//	Move ─▶ MOVING(e) ── Reserve(e), the job ───────▶ INCOMING(e): a place, no start
//	        weigh the gain ◀───────────── Reserved ──
//	        YIELDING(e): claim the attempt
//	        GONE(e), the commit point ── Confirm(e) ▶ WAITING, under e
//	        forget all but a tombstone ◀─ Confirmed ─
//
//	        aborted before GONE ── Drop(e) ─────────▶ what it knew before
//	        Pending, Aborted, Committed ◀─ Resolve(e)─ asks until it knows
//
// Reserve and Confirm are repeated by S, Resolve by T, until they are answered;
// Drop is sent once, for Resolve covers it. S keeps what became of every epoch it
// ever assigned (Transit.Assigned), and all of the job until the Confirm is
// acknowledged. One site at most has authority over a job, and between GONE and
// WAITING the record of it at S and the place at T are its handover. The rules were
// checked exhaustively as a model: docs/protocol/move.pml.
//
// # Memory
//
// A job that has ended stays until Forget, one that is gone until it is
// acknowledged. Then a tombstone is left, which Take moves out of memory to the
// disk for Horizon. A call about a job that is not in memory is preceded by Recall
// of its tombstone, if there is one.
package site
