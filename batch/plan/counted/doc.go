// Package counted is the shared base of policies that count processors without
// distinguishing them: FCFS, EASY, CBF and dynP.
//
// It keeps the jobs and their states, the queue in order, the number of idle
// processors, and the profile of future free capacity. A policy adds which jobs may
// start, and whether waiting jobs have slots in the profile.
//
//	        ┌─────────┐ EarliestStart ┌─────────┐  Begin  ┌─────────┐
//	Submit ▶│ parked  │──────────────▶│ waiting │────────▶│ running │▶ Finish
//	        └─────────┘               └─────────┘         └─────────┘
//	                              Hold │  ▲ Place    StartFailed │
//	                                   ▼  │                      ▼
//	                                  held          (waiting, at its old position)
//
// A policy that plans has no parked jobs: every job gets its slot at submission, also
// one that must not start yet.
//
// An incoming job, reserved for a move, is in the queue like a waiting one and is
// skipped until it is confirmed. A held incoming job keeps only its position in the
// order; placing it confirms it.
//
// An adopted job, which ran before its driver began, is running from the start.
//
// The profile must not show the capacity of a job that overruns its walltime as free.
// Settle finds such jobs and extends their booking by the time that they have overrun,
// at least a second, so a job that overruns by x seconds is extended log2(x) times.
//
// # Reservations
//
// An advance reservation is a rectangle in the profile, around which a policy plans,
// with a small queue of its own. Jobs submitted into it start while it is open, each
// in its earliest slot that delays no earlier one, if they end by its end. A job that
// still runs then is killed.
//
//	processors   Reserve     WindowOpen        WindowClose
//	4 ┤          ·           ┌───────────────┐
//	3 ┤ 1 1 1 1 1│           │ 5 5 5 6 6 6   │ 2 2
//	2 ┤ 1 1 1 1 1│           │ 7 7 7 7 7 7 7 │ 2 2
//	1 ┤ 1 1 1 1 1│           └───────────────┘ 2 2
//	  └────────────────────────────────────────▶ time
//
// A policy passes every event to Turn first, calls Serve at the beginning of a pass and
// NextServe in Wake, and uses AnswerWindow and AnswerInside in its estimates.
//
// A reservation has priority. If nodes are down, or an outside job overruns into it, it
// opens with the available processors, and no outside job starts until it has all.
package counted
