// Package dfrs is dynamic fractional resource scheduling (M. Stillwell, F. Vivien,
// H. Casanova, "Dynamic Fractional Resource Scheduling vs. Batch Scheduling",
// sections 2 and 4): jobs share nodes by fractions of their processors, are paused
// and moved, and nobody knows how long they run.
//
//	node 0  ▕ 1 1 1 1 ▏▕ 1 1│2 2 ▏▕ 3 3│2 2 ▏    1 and 2 share it, each at half of
//	node 1  ▕ 2 2     ▏▕ 2 2     ▏▕ 1 1 1 1 ▏    its need; 3 comes, and 1 moves
//	         └ memory, never exceeded ┘
//
// A job is a number of tasks, each with a memory requirement, which no node ever
// exceeds, and a CPU need, which it may get a part of: its yield. All tasks of a job
// have the same one.
//
// # What it decides
//
//	submission ─▶ Greedy, GreedyP, GreedyPM or MCB8 ─┐
//	completion ─▶ Greedy or MCB8 (*) ────────────────┼─▶ target ─▶ yields ─▶ decisions
//	period ─────▶ MCB8 or MCB8-stretch (per) ────────┘   who shall   opt=…    start, pause,
//	                                                     be where             resume, migrate,
//	                                                                          set share
//
// The target says where each job shall be. What is to leave is told so; what is to
// come follows as soon as what leaves has left. In between the target may change.
//
// The order of jobs is that of their priorities, flow time over virtual time squared:
// who has had nothing yet comes first. Virtual time is the integral of a job's yield as
// the job has it: one that was resumed or migrated has none until the driver says that it
// goes on. The policy does not know how long that will take, and plans as if it were at
// once: it is not told what a move costs.
//
// Periodic passes are at multiples of the period since instant 0, as long as there are
// jobs.
//
// # Words
//
//   - need: the share of a processor that a task can use
//   - yield: what it has of that, 2^-20 to 1
//   - virtual time: the integral of a job's yield, without the time it takes to move it
//   - flow time: time since a job may start
//   - target: the nodes where a job's tasks shall be
//   - placed: has a target, though it may have to wait until others have left
//   - pinned: runs where it is or not at all (minvt, minft)
//   - home: where a resident job has its memory for good, from its beginning on
//   - EquiPartition: every task on a node has an equal part of it (section 3.2)
//
// # Estimates
//
// A forecast runs a copy forward. Jobs with a walltime need what is left of it; of
// others, and of those that have outrun theirs, what jobs like them needed, or as long
// again as they have run. Who is on the move counts as arrived, for nobody knows how long
// that takes. It promises nothing: whoever comes later may pause anybody.
// Windows are not set aside, and no deadline is agreed to.
//
// # Beyond the paper
//
// A resident job, which no checkpoint can save, keeps its memory at home while it is
// paused, and goes on there or not at all. Pausing it would free nothing but CPU, which
// can be shared: so it is paused for nobody, and stands first in a packing, which takes
// its memory for granted. Who does not fit beside such memory waits, and keeps nobody out.
//
// Needs may be corrected by what is measured (section 2.1; the setting discover=off leaves
// them as declared). Memory counts at once: where it is more than there is, those of the
// lowest priority leave, except who is at home. A CPU need counts when yields are computed
// the next time. What was measured is limited to what lets the job fit the machine alone.
//
// A node that comes back before anything was told of its jobs has had them all the time:
// they run on, or have to leave if others have got their places.
//
// The setting decay gives less to jobs that have had much, priorities more to those of
// some owners, and match relabels nodes after a packing so that fewer jobs move.
package dfrs
