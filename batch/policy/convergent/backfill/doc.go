// Package backfill is backfilling on a farm of unlike machines that run one job each: a
// peer of convergent scheduling.
//
//	machine 0   ▕ 1 1 1 1 1 1 ▏▕ 3 3    3 is first in the queue and needs machine 0, or the
//	machine 1   ▕ 2 2 2 ▏▕ 4 ▏          license copy of 1: it gets a reservation.
//	                                    4 may go before it, because it does not delay it
//
// Running jobs stay. At each event jobs start in queue order, each on the free machine of
// the highest score that can run it, if there are copies of its licenses. The first job
// that cannot start gets a reservation: the earliest instant at which, by the estimates, a
// machine that can run it and copies of its licenses are free; of several machines the one
// of the highest score. Other jobs may start only if they do not delay it: they end by
// then, or take neither that machine nor needed copies.
//
// The rules differ in the order of jobs and the treatment of reservations:
//
//   - EASY: by submission; a new reservation at each event
//   - Renewed (BF-rm): by descending priority; a new reservation at each event
//   - Kept (BF-unrm): by descending priority; a job keeps its reservation and machine until
//     it runs, but starts earlier if it can
//
// The priority of a job is the mean of its entries in the Job-Machine matrix of convergent
// scheduling, as computed by the heuristics of section 4.1 at each event.
//
// A job that overruns its estimate counts as about to end.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, sections 2 and 6; EASY is Lifka's.
package backfill
