// Package dynp is self-tuning dynP: a planner that changes the order in which it
// plans (A. Streit, "Enhancements to the Decision Process of the Self-Tuning dynP
// Scheduler", JSSPP 2004).
//
// At each event all waiting jobs are replanned in the order of the active policy, each
// at its earliest fit beside the running jobs. Backfilling is implicit: a job late in the
// order takes the holes that earlier ones leave.
//
//	processors           FCFS: 2 before 3         SJF: 3 before 2
//	4 ┤ 1 1 . . .        1 1 2 2 2 2 3 3          1 1 3 3 2 2 2 2
//	3 ┤ 1 1 . . .        1 1 2 2 2 2 3 3          1 1 3 3 2 2 2 2
//	2 ┤ 1 1 . . .        1 1 2 2 2 2 3 3          1 1 3 3 2 2 2 2
//	  └───────────▶      response 6 and 8         8 and 4: SJF by ART
//
// A self-tuning step plans with every policy and measures each plan by a metric over the
// waiting jobs, as if each used its whole walltime. A decider then chooses the active
// policy.
//
// # Words
//
//   - policy: here a named order in which jobs are planned (see Orders); equal jobs keep
//     the order of submission
//   - metric: the value of a plan; less is better (see Metrics)
//   - decider: simple takes the best policy, of several the first in the list; advanced
//     keeps the active one if it is among the best; preferred:P takes P if it is among
//     the best and otherwise decides as advanced
//   - equal: plans count as equally good if their values differ by at most this fraction
//     of the better one
//   - full, half: a step at every event, or only at submissions
//
// There is at most one step at an instant, none if all waiting jobs can start now, and
// none until the pause since the last switch is over.
//
// # What a step costs
//
// All plans share the profile of the running jobs and each job's start if it were alone,
// which is where searches begin and a bound on every plan. A plan is abandoned as soon as
// the placed jobs plus the bounds of the rest are worse than the best plan so far. As
// long as two orders agree, the second plan copies the starts of the first.
//
// Sums are 128-bit integers: no rounding depends on the order of jobs, so equal plans
// have equal values. Slowdowns are in units of 2^-20.
//
// # One list for all
//
// With the setting list=shared all policies sort one list in turn; the active policy and
// the first of the list swap their turns. FCFS, which finds new jobs at the end of the
// list, does not sort. In a step FCFS thus plans in the order that the previous policy
// left. This is not a way to schedule, but the paper's figures are of it; the
// reproduction report in docs has the evidence.
package dynp
