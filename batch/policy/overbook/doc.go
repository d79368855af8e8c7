// Package overbook is conservative backfilling with overbooking (G. Birkenheuer,
// M. Hovestadt, O. Kao, K. Voss, "Overbooking in Planning Based Scheduling
// Systems", sections 3.1 to 3.1.4).
//
// Users overestimate runtimes. A job of a user, or an application, known to do so can
// be promised a gap shorter than its estimate d, but at least d': it runs longer than d'
// with probability at most maxPoF. The difference, o = d-d', is its spare time.
//
//	gap    ├────────────┤
//	full   ├──────────────────┤  d    does not fit
//	short  ├───────────┤         d'   fits: the job is booked until the gap ends
//
// If even d' does not fit, it may fit if the jobs that end where the gap begins end
// early, each by at most its spare time: the job counts on its predecessors.
//
//	processors
//	┤ k k k k k k k┊k k│            │ window       k is booked until ts, and may
//	┤ k k k k k k k┊k k│            │ window       run until then
//	└──────────────┴───┴────────────┴──────▶
//	             ts-a  ts           end of the gap
//	                ├─ job ─────────┤             d' fits from ts-a on
//
// The job's estimate says ts-a, and it is booked from ts on. When its predecessors end
// early, it is booked from ts-a on, before other jobs get that time. If they do not, they
// keep their slots and the job begins late. Time that a job counts on is not offered to
// others: the plan is feasible, and jobs booked for their whole estimates keep their
// slots whatever the others do.
//
// A waiting job moves to an earlier gap that holds its booking, and is booked for longer,
// up to its estimate, when time behind it becomes free: an overbooked plan straightens
// itself.
//
// A job still running when its booking ends keeps its processors until another job needs
// them. That is a conflict, and the job is preempted: one with a checkpoint is paused and
// waits for the next gap that holds the rest of its estimate; any other is killed.
//
// Reservations are neither shortened nor counted on. A job that counted on others in
// vain, or began in a gap too short for it, does not cause others to be shortened
// further.
//
// # Words
//
//   - estimate: the job's walltime, d; after it the driver kills the job
//   - short: d', the shortest booking
//   - spare: the part of a booking beyond that
//   - to count on: to be promised time for which predecessors are booked
//   - settlement: the result of an agreement, and who pays if it is broken: the user
//     if the job outran the estimate, or the provider that did not provide it
package overbook
