// Package forecast estimates completion times for policies that do not plan.
//
// It runs a copy of the policy forward in its own time, as if every job used up
// its walltime, incoming ones were confirmed now and nobody else came. A queue
// (FCFS, EASY) is run once for all shapes of all asks: after each pass it says
// what a job that stood last could have now, and since such a job changes nothing
// for those before it until it starts, the first pass that has room for a shape is
// where that shape would start. The answer is exact for every width from one run.
//
//	pass at    now    t1      t2        t3
//	free        2      3       8        64
//	shadow     t2     t2      t9     never     until then, or
//	spare       0      1       4        64     no more than this
//	                   └ 1 processor for any time starts here,
//	                     3 for no longer than t2-t1
//
// Other policies are run once for each shape, with the job in it. A run ends as
// soon as its shape cannot beat the best one.
package forecast
