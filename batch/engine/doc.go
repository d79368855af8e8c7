// Package engine drives one policy in virtual time.
//
// It is to a simulated cluster what package batch/exec is to a live one: it
// reports events to the policy, carries out what it decides, and lets jobs end
// when their work is done. Time is the caller's: the engine says when something
// will happen next by itself, and the caller advances it there, or to an event
// of its own before that.
//
//	          Next ─▶ t            for each instant t:
//	caller ──┬─ Advance(t)           ends due at t are applied,
//	         ├─ Submit, Apply        then what the caller brings,
//	         └─ Pass                 then scheduling passes until the policy rests
//
// A job progresses at its yield: the share of a processor that its slowest task
// has, over the share it can use, times the score of the node over that of the
// machine its work was measured on. Progress is rounded down and completion up,
// to the microsecond.
//
// A job that is resumed or migrated may have to pay for it: for the penalty it holds
// its places and does nothing, and Resumed reports when that is over. Another
// move within that time starts it again. Transfer adds what a job's data take, also to its start.
//
//	         Pause       Resume   SetShare
//	yield 1 ───┐           ┌╌╌╌╌╌╌╌╌┼╌╌╌╌╌╌┐
//	           └───────────┘ penalty       └─── 1/2
//
// The windows of advance reservations open and close by themselves, after the
// ends of that instant.
//
// Ends are kept in a heap by time and, within an instant, by the order in which
// they were foreseen. In the steady state nothing is allocated.
package engine
