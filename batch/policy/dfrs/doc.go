// Package dfrs is dynamic fractional resource scheduling (M. Stillwell, F. Vivien,
// H. Casanova, "Dynamic Fractional Resource Scheduling vs. Batch Scheduling",
// sections 2 and 4). Jobs share nodes by fractions of their processors and are paused and
// moved; their runtimes are unknown.
//
//	node 0  ▕ 1 1 1 1 ▏▕ 1 1│2 2 ▏▕ 3 3│2 2 ▏    jobs 1 and 2 share node 0, each at half
//	node 1  ▕ 2 2     ▏▕ 2 2     ▏▕ 1 1 1 1 ▏    of its need; 3 arrives, and 1 moves
//	         └ memory, never exceeded ┘
//
// A job consists of tasks. Each has a memory requirement, which nodes always satisfy, and
// a CPU need, of which it gets a fraction: its yield. All tasks of a job have the same
// yield.
//
// # What it decides
//
//	submission ─▶ Greedy, GreedyP, GreedyPM or MCB8 ─┐
//	completion ─▶ Greedy or MCB8 (*) ────────────────┼─▶ target ─▶ yields ─▶ decisions
//	period ─────▶ MCB8 or MCB8-stretch (per) ────────┘   desired     opt=…    start, pause,
//	                                                     nodes                resume, migrate,
//	                                                                          set share
//
// The target is the desired nodes of each job. Jobs that must leave are ordered to; jobs
// that enter follow as soon as those have left. The target may change in between.
//
// Jobs are ordered by priority, flow time over virtual time squared: jobs without virtual
// time come first. Virtual time is the integral of a job's yield; a job that was resumed
// or migrated makes none until the driver reports that it has resumed. The policy does
// not know the cost of a move and plans as if it took no time.
//
// Periodic passes are at multiples of the period since instant 0, as long as there are
// jobs.
//
// # Words
//
//   - need: the share of a processor that a task can use
//   - yield: the fraction of its need that it gets, 2^-20 to 1
//   - virtual time: the integral of a job's yield, without the time it takes to move it
//   - flow time: time since a job may start
//   - target: the desired nodes of a job's tasks
//   - placed: has a target, perhaps one that other jobs must leave first
//   - pinned: stays on its nodes or is paused (minvt, minft)
//   - home: the nodes that hold the memory of a resident job from its start to its end
//   - EquiPartition: all tasks on a node have equal parts of it (section 3.2)
//
// # Estimates
//
// A forecast runs a copy forward. A job with a walltime needs the rest of it. Other jobs,
// and those that overran, need as much as similar jobs did, or as long again as they have
// run. A moving job counts as arrived, because the duration of a move is unknown. A
// forecast is no promise: later jobs can pause any job. There are no reservations and no
// agreements.
//
// # Beyond the paper
//
// A resident job, which cannot be checkpointed, keeps its memory at home while it is
// paused, and can resume only there. Pausing it would free only CPU, which can be shared,
// so it is not paused for other jobs and comes first in a packing, which treats its memory
// as taken. A job that does not fit beside such memory waits and does not block others.
//
// Needs can be corrected by measurements (section 2.1; discover=off keeps declared ones).
// Measured memory counts at once: where it exceeds a node, jobs of the lowest priority
// leave, except those at home. A measured CPU need counts at the next computation of
// yields. Measured needs are limited so that the job alone fits the machine.
//
// If a node returns before the driver reported the end of its jobs, the jobs were there
// all the time: they continue, or leave if others have taken their slots.
//
// The setting decay gives less to jobs that have had much, priorities gives more to jobs
// of some owners, and match relabels nodes after a packing so that fewer jobs move.
package dfrs
