// Package batch says what a batch system and a policy are.
//
// A policy decides how a cluster's jobs run: which one starts when, where and
// with which share of a processor. It is a core: a plain state machine that is
// told what happened and when, and answers with decisions. It has no clock, no
// goroutine and no random source, so that the simulator and a live site run the
// same code and a run is a function of its events.
//
//	      events of one instant             decisions
//	driver ── Apply, Apply, … ──▶ Policy ── Decide ──▶ driver
//	  ▲                             │                    │
//	  └────── Finish, Stopped ◀─────┼── processes, or the event heap of the
//	                                │   simulator, carry them out
//	                                └── Wake: the next instant a pass is wanted
//	                                    though nothing happens
//
// A driver applies all events of one instant (ends before submissions), asks
// for one scheduling pass, and carries out what it decided. Capacity that a
// decision took stays taken until the driver says Finish or Stopped.
//
// A System is the other seam: what a site's server may ask of a local batch
// system, embedded or external. It does I/O and is not a core. An embedded one is
// a Policy plus an executor (package exec); Slurm is a System without a Policy.
//
// The main types are Job, Shape, Ask and Estimate.
package batch
