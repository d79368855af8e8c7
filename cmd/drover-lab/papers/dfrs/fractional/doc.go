// Package fractional runs the experiments of the paper on dynamic fractional
// resource scheduling: one workload, one algorithm, one row of figures.
//
//	HPC2N's log ──▶ weeks ──────┐
//	                            ├─▶ Instance ──┬─▶ bound, once
//	Lublin's model ─▶ unscaled ─┤              │
//	                  scaled ───┘              └─▶ Run: algorithm, period, penalty ──▶ Row
//
// # Words
//
//   - An instance is a machine of equal nodes and jobs with tasks. A task has a need,
//     the part of a node's CPU that it can use, and memory, of which a node never
//     gives more than it has.
//   - A set is a number of instances: weeks of a log, or seeds of a model.
//   - The stretch of a job is its turnaround over its runtime, both at least ten
//     seconds. The degradation of an algorithm on an instance is the largest stretch
//     over the bound, which no schedule can go below.
//   - The penalty is the time that a job holds its nodes without progress after it is
//     resumed or moved. No algorithm knows of it.
//   - A job that is paused and resumed at the same instant was migrated; one that is
//     resumed later, preempted. Bandwidth counts the memory of the tasks that leave a node,
//     out and in again.
//   - Demand is what all jobs in the system could use. Underutilization is the
//     integral of the demand, as far as there are nodes for it, without the useful
//     work, over that work: time under penalty is not useful.
//
// FCFS and EASY know every runtime, and give each task a whole node: they look
// neither at need nor at memory.
//
// # Source
//
// M. Stillwell, F. Vivien, H. Casanova, "Dynamic fractional resource scheduling vs.
// batch scheduling", IEEE TPDS 23(3), 2012, sections 5 and 6.
package fractional
