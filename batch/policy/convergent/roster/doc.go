// Package roster tracks the jobs of a farm for policies that plan the whole farm at once: which
// jobs wait, where jobs run and how far they have progressed, and which jobs still hold a
// machine that they must leave. A Planner assigns jobs to machines; the roster turns its plan
// into decisions.
//
//	events ──▶ Roster ── farm.State ──▶ Planner ── plan ──▶ Roster ── decisions ──▶
//	                                    job on each machine   pause jobs with another
//	                                                          target, then start and resume
//
//	machine 0   ▕ 1 1 1 1 ▏▕ 3 3 3 ▏    3 is more urgent: 1 leaves,
//	machine 1   ▕ 2 2 2 2 2 2 ▏▕ 1 ▏    and continues when 2 has ended
//
// A machine runs one job at a time. The job takes as many of its processors as it is wide; the
// others stay unused.
//
// The roster plans when a job comes, ends or is changed, and when a machine joins or leaves. It
// does not plan when a job has left a machine on request. A job with a target that is still occupied
// waits until the other job has left and enough copies of its licenses are free.
//
// # Terms
//
//   - at: the machine where a job runs
//   - leaving: the machine that a job still holds although it must leave
//   - target: the machine that the plan assigns to a job
//   - pinned: the job continues on its machine or waits: a batch.Job that is Resident and has
//     begun. Its memory there stays reserved, whether it runs or not
//   - stranded: the job was on a machine that left; the driver will report what became of it.
//     Without a report by the time the machine is back, it has been running all along
//
// # The farm of a platform
//
// Each node is a machine. Either all nodes have scores or none has: then all machines are equal
// and References of jobs mean nothing. Licenses in Platform.Licenses are floating. If nodes
// name such a license, only those nodes can run it; else all can. A license that only nodes
// name is bound to them, with unlimited copies. A job's input is on the machine that has the
// name of its Site, else on another place. All places are equally far apart.
//
// A job that this farm can never run waits forever; Edge.Validate detects such jobs.
//
// Jobs move by Pause and Resume rather than directly: a job can begin only when the other job
// has left the machine, and two jobs may have to swap machines.
//
// The roster supports neither reservations of windows nor agreed deadlines.
package roster
