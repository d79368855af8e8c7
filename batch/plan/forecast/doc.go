// Package forecast estimates completion times for policies that do not plan.
//
// It runs a copy of the policy forward in its own time, as if every job used up
// its walltime, incoming ones were confirmed now and nobody else came. A queue
// (EASY) is run once for all shapes of all asks: after each pass it says what a
// job that stood last could have now, and since such a job changes nothing for
// those before it until it starts, the first pass that has room for a shape is
// where that shape would start. The answer is exact for every width from one run.
//
//	pass at    now    t1      t2        t3
//	free        2      3       8        64
//	shadow     t2     t2      t9     never     until then, or
//	spare       0      1       4        64     no more than this
//	                   └ 1 processor for any time starts here,
//	                     3 for no longer than t2-t1
//
// The run is kept, and shows the same until something else happens than that jobs
// come which are not in it, or until it would have had its second pass.
//
// Who wants the shape that ends first alone is told after the rooms in which one
// could: of those that fit a room, the widest ends first.
//
// # Long queues
//
// Only the first Exact jobs that wait, the front, are run. The rest, in one sum,
// use every processor that the front leaves free, from now on, until the work of
// their walltimes is done; from then on the rooms of the front are looked through
// for a job that comes last. A job that waits in the rest itself has only the work
// of those before it to wait for.
//
//	free  ░ the rest's work
//	 64 ┤              ░░░░░░│
//	  8 ┤       ░░░░░░░░░░░░░│ from here on
//	  3 ┤ ░░ ░░░░░░░░░░░░░░░░│ the first room
//	    └────────────────────┴─────▶ time
//
// With up to Exact jobs the answer is exact. With more it is not: not for a job of
// the front either, which one of the rest may put off by being backfilled. What
// can be said is that one more job behind the front makes no start earlier, that a
// shape starts no earlier than one that is narrower, or shorter, and otherwise the
// same, and that none starts without room for it beside the front. The rest loses
// nothing to holes here, and leaves none: wide and long shapes are forecast a
// little too early, and small short ones, which would find a hole, too late.
//
// With the first 10,000 jobs of four recorded workloads and of a random one waiting
// at once, starts of shapes of all widths for 10 minutes to 10 hours were up to 4 %
// of the time until all had started too early, and off by 8 % to 39 % of it on
// average: nearly all of that from small short shapes, at worst 98 %.
//
// # No queue
//
// Other policies are run once for each shape, with the job in it. A run ends as
// soon as its shape cannot beat the best one. For jobs that wait already one run tells
// starts and ends: where processors are shared, an end is no walltime after its start.
package forecast
