// Package dynp is self-tuning dynP: a planner that changes the order in which it
// plans (A. Streit, "Enhancements to the Decision Process of the Self-Tuning dynP
// Scheduler", JSSPP 2004).
//
// At each event all waiting jobs are planned anew, in the order of the active
// policy, each at its earliest fit beside the planned ends of those that run. So
// nothing has to be backfilled: a job that comes late in the order takes the holes
// that those before it have left.
//
//	processors           FCFS: 2 before 3         SJF: 3 before 2
//	4 ┤ 1 1 . . .        1 1 2 2 2 2 3 3          1 1 3 3 2 2 2 2
//	3 ┤ 1 1 . . .        1 1 2 2 2 2 3 3          1 1 3 3 2 2 2 2
//	2 ┤ 1 1 . . .        1 1 2 2 2 2 3 3          1 1 3 3 2 2 2 2
//	  └───────────▶      response 6 and 8         8 and 4: SJF by ART
//
// A self-tuning step plans with every policy, measures each plan by a metric over
// the waiting jobs as if they ran as long as they may, and a decider says which
// policy is active from now on.
//
// # Words
//
//   - policy: here an order in which jobs are planned, by its name (see Orders);
//     among equal jobs the first that was submitted is first
//   - metric: what is measured of a plan, the less the better (see Metrics)
//   - decider: simple takes the best policy, of equal ones the first of the list.
//     advanced stays with the active one if that is among the best. preferred:P takes
//     P if that is among the best, and else decides as advanced
//   - equal: plans whose values differ by no more than so large a part of the better
//     one are equally good
//   - full, half: a step at every event, or only where jobs come
//
// There is one step at an instant, none if all who wait can start now, and none
// before a pause has passed since the last switch.
//
// # What a step costs
//
// All plans share the profile of the running jobs, and where each job would start
// if no other waited: a search begins there, and no plan is better than that. So a
// plan is given up as soon as what has been placed, and the rest at its best, is
// worse than the best plan so far; and while two orders begin alike the second plan
// takes the starts of the first.
//
// Sums are whole numbers of 128 bits: no rounding depends on the order of jobs, so
// that plans which are the same have the same value. Slowdowns are in parts of
// 2^-20.
//
// # One list for all
//
// With the setting list=shared all policies sort one list, one after the other, the
// active one first and the first of the list in its place, and FCFS, which finds new
// jobs at the end of the list anyhow, sorts nothing. So in a step FCFS plans in the
// order that the policy before it has left. This is no way to schedule, but it is
// what the paper's figures are of; docs/reproduction.md has the evidence.
package dynp
