// Package edf is earliest deadline first with preemption on a farm of unlike machines, as
// convergent scheduling is compared with it.
//
//	jobs      3 (by 10)   1 (by 20)   4 (by 20)   2 (whenever)     by deadline, then submission
//	            │           │           │           └ waits
//	machines  [600]       [400]       [200]                        by falling score, then index
//
// Jobs that wait choose in that order: each takes the machine of the highest score that is
// free and can run it, if there are copies of its licenses. Where there are none, jobs of
// later deadlines make place, the latest first, until there are; of those the ones that
// need not have gone stay. Nobody else moves: who runs goes on where it is, until it ends
// or has to make place. Jobs without a deadline come last.
//
// With anew all jobs choose at each event, whoever runs where: a job moves whenever a
// better machine is free at its turn. That is an EDF that knows no price of moving; it is
// stronger than what the paper describes as long as moving is free, and moves all the time.
//
// The paper says that a job takes the best available machine, is queued until the next
// step if there is none, and that preemption serves "to free resources to execute first
// new submitted job with an earliest deadline".
//
// It orders jobs "in decreasing order w.r.t. their deadline" and says that the earliest
// goes first; the latter is done. To the letter is Latest: the latest deadline first, those
// without one before all. Queued is between: who waits chooses in that order, and a job
// that has just come takes its machine from later deadlines, the earliest such job first.
// Either is worse than the algorithm that has the name.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, sections 2 and 6.
package edf
