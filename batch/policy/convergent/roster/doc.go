// Package roster keeps the account of a farm's jobs for policies that plan it whole: who
// waits, who runs on which machine and how far it has come, and who still holds one that
// it was told to leave. A Planner says who shall be where; the roster makes decisions of
// that.
//
//	events ──▶ Roster ── farm.State ──▶ Planner ── plan ──▶ Roster ── decisions ──▶
//	                                    job on each machine   pause who is elsewhere,
//	                                                          then start and resume
//
//	machine 0   ▕ 1 1 1 1 ▏▕ 3 3 3 ▏    3 is more urgent: 1 leaves,
//	machine 1   ▕ 2 2 2 2 2 2 ▏▕ 1 ▏    and goes on when 2 has ended
//
// A machine runs one job at a time: the job takes as many of its processors as it is
// wide, and nobody else gets the rest.
//
// A plan is made when a job comes, ends, or is changed, and when a machine joins or
// leaves; not when a job has left a machine as it was told. Who shall be on a machine that
// another has not left yet waits for that, and for the copies of its licenses.
//
// # Words
//
//   - at: the machine where a job runs
//   - leaving: the machine that it still holds though it was told to leave
//   - target: the machine where the plan has it
//   - pinned: goes on where it was, or waits: a batch.Job that is Resident and has begun.
//     Nobody else gets its memory there, whether it runs or not
//   - stranded: was on a machine that has left; the driver will say what became of it.
//     If it says nothing until the machine is back, it has been there all the time
//
// # The farm of a platform
//
// Each node is a machine. Scores are all given or all left out: then all machines are
// alike and References of jobs mean nothing. What Platform.Licenses lists is floating. If
// any node names such a license, too, only those nodes that do can run it; else all can.
// What only nodes name is bound to them, in as many copies as its one job asks for. A
// job's input lies on the machine that has the name of its Site, else at another place;
// all places are equally far from each other.
//
// A job that this farm can never serve waits for ever: Validate tells the edge.
//
// Jobs move by Pause and Resume: on its new machine a job can begin only when who was
// there has left, and two may have to change places.
//
// No windows are set aside, and no deadline is agreed to.
package roster
