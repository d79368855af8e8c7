// Package bound computes a lower bound on the maximum stretch of a set of jobs. It
// assumes full knowledge of the future, unlimited memory, and free migration of tasks.
// Experiments compare schedulers with this bound.
//
// # The question as a flow
//
// A stretch S gives each job a deadline, its release plus S times its length.
// Releases and deadlines cut the time axis into intervals. S is possible if all
// work can flow from the jobs to the intervals between release and deadline:
//
//	          rate × length       at most            at most
//	                            rate × interval   capacity × interval
//	source ──────────────▶ job ──────────────▶ interval ──────────────▶ sink
//
// A job's rate is the sum of its tasks' needs. Shares can change at any time, so only
// the total that a job gets within an interval matters.
//
// # Words
//
//   - An interval is free if all jobs that can run in it and have work left, running
//     at full rate, do not exceed the capacity.
//   - Cells are what is left of the axis without the free intervals.
//   - A busy period is a row of cells that share jobs with no other.
//   - A cut is a set of pieces of the axis, in which the jobs have to do more
//     work than the pieces hold: what they cannot do elsewhere, even at full
//     rate in all the rest of their windows. It proves that S is too small.
//
// # Free intervals
//
// In a free interval every job runs at full rate, and that is exact. Take any
// way to place all work, and a job that could get more in the free interval and
// has work placed elsewhere: moving that work here delays no job, since the
// interval has capacity for all, and empties another one. Then the interval and the
// work done in it can be left out, which leaves less work and may make the next
// interval free. So one sweep over the axis drops most of it, and it is swept
// until nothing more is found. What is left falls into busy periods, with
// mostly a few jobs each.
//
// # From cut to cut
//
// In a busy period cells are given out in order of time to the jobs that can
// wait least; what then has no place is placed by a maximum flow. No rule that
// goes by time alone is enough: see the tests for one that goes by deadline.
//
// If the flow fails, its minimum cut shows why. The pieces of a cut begin and
// end at releases and deadlines of certain jobs, and so do they for a larger S;
// what the cut holds and what must be done in it take one pass to compute. The
// search continues just above the largest S that the same cut is found to rule
// out, and ends when the next S, 2^-20 more, is possible. That is Newton's
// method, with cuts for tangents; on the weeks of real logs it takes five tests.
//
//	demand - what the cut holds
//	│\  cut 1
//	│ \____
//	│  \   \ cut 2
//	└───●───●──▶ S          ● the next one to be tried
//
// # Whole numbers
//
// Times are microseconds, stretches multiples of 2^-20, and nothing is rounded
// but deadlines: up to a microsecond, which can make the bound lower only, and
// by less than a microsecond over the shortest length or the threshold. Times
// from the first release stay below 2^60, and the capacity of a cell below 2^62
// (longer ones are cut); work and the two sides of a cut have 128 bits. What is
// beyond that is an error.
//
// Memory and time grow with the sum of the cells that each job may use, at worst
// the square of the number of jobs that are in one busy period together: 4,000
// jobs that are all in each other's way take 280 MB and a second or two. A sum
// beyond 2^27 is an error.
//
// # Source
//
// H. Casanova, M. Stillwell, F. Vivien, "Dynamic Fractional Resource Scheduling
// vs. Batch Scheduling", INRIA research report 7659, 2011, section 3.1. The flow
// for one stretch, and searching for the smallest: A. Legrand,
// A. Su, F. Vivien, "Minimizing the stretch when scheduling flows of divisible
// requests", Journal of Scheduling 11(5), 2008. The flow: E. Dinic, "Algorithm
// for solution of a problem of maximum flow in networks with power estimation",
// Soviet Math. Doklady 11, 1970.
package bound
