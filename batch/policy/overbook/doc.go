// Package overbook is conservative backfilling with overbooking (G. Birkenheuer,
// M. Hovestadt, O. Kao, K. Voss, "Overbooking in Planning Based Scheduling
// Systems", sections 3.1 to 3.1.4).
//
// Users say longer times than their jobs run. So a job whose user, or application,
// is known for that may be promised a gap that is shorter than its estimate d: at
// least d', so that it outlasts that only with a probability of maxPoF. What lies
// between, o = d-d', is its spare time.
//
//	gap    ├────────────┤
//	full   ├──────────────────┤  d    does not fit
//	short  ├───────────┤         d'   does: the job is booked until the gap ends
//
// Where even d' does not fit, it may if the jobs that end where the gap begins end
// early, by no more than the spare time of each: the job counts on its predecessors.
//
//	processors
//	┤ k k k k k k k┊k k│            │ window       k is booked until ts, and may
//	┤ k k k k k k k┊k k│            │ window       run until then
//	└──────────────┴───┴────────────┴──────▶
//	             ts-a  ts           end of the gap
//	                ├─ job ─────────┤             d' fits from ts-a on
//
// It is said to begin at ts-a and booked from ts on; when its predecessors do end, it
// is booked from ts-a on, before anybody else gets that time. If they do not, they run
// to their own end, and it begins late. Nobody else is told of time that somebody
// counts on: the plan is one that a machine could keep, and all who are booked for
// their whole estimates keep their places whatever the others do.
//
// As long as a job waits it moves to an earlier gap that holds what it is booked for,
// and is booked for longer, up to its estimate, when the time behind it gets free: an
// overbooked plan straightens itself.
//
// A job that still runs when what it is booked for ends runs on while nobody needs its
// processors. Otherwise there is a conflict, and it has to make place: one that can be
// checkpointed is paused and waits for the next gap that holds all that is left of its
// estimate; another one is killed.
//
// Windows that are set aside are neither shortened nor counted on. A job that has
// counted on others, or begun in a gap too short for it, is never a reason to shorten
// somebody more.
//
// # Words
//
//   - estimate: the job's walltime, d; after it the driver kills the job
//   - short: d', the least that it is booked for
//   - spare: what of its booked time is beyond that
//   - to count on: to be promised time that predecessors are booked for
//   - settlement: what has become of an agreement, and who pays if it is broken: the
//     user who outran the estimate, or the provider who did not give that much
package overbook
