// Package backfill is backfilling on a farm of unlike machines, one job on each, as
// convergent scheduling is compared with it.
//
//	machine 0   ▕ 1 1 1 1 1 1 ▏▕ 3 3    3 is first in the queue and needs machine 0, or the
//	machine 1   ▕ 2 2 2 ▏▕ 4 ▏          copy of a license that 1 has: it gets a reservation.
//	                                    4 may go before it, as it is not in its way
//
// Who runs stays. At each event jobs start in the order of the queue, each on the machine
// of the highest score that is free and can run it, if there are copies of its licenses.
// The first one that cannot start gets a reservation: the earliest instant at which, by
// the estimates, a machine that can run it and copies of its licenses are free, and of
// such machines the one of the highest score. All others may start only if they do not put
// that off: they end by then, or they take neither that machine nor copies that it needs.
//
// Rules differ in who is first, and in what becomes of a reservation:
//
//   - EASY: by submission; made anew at each event
//   - Anew (BF-rm): by falling priority; made anew at each event
//   - Kept (BF-unrm): by falling priority; who has a reservation keeps it, and its machine,
//     until it runs. If it can start earlier, there or elsewhere, it does
//
// The priority of a job is the mean of its entries in the Job-Machine matrix of convergent
// scheduling: what the heuristics of section 4.1 say of it on an average machine that can
// run it. They are computed at each event.
//
// A job that overruns its estimate is about to end.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, sections 2 and 6; EASY is Lifka's.
package backfill
