// Package edf is earliest deadline first with preemption on a farm of unlike machines: a
// peer of convergent scheduling.
//
//	jobs      3 (by 10)   1 (by 20)   4 (by 20)   2 (whenever)     by deadline, then submission
//	            │           │           │           └ waits
//	machines  [600]       [400]       [200]                        by descending score, then index
//
// Waiting jobs choose in that order. Each takes the free machine of the highest score that
// can run it, if there are copies of its licenses. Otherwise jobs of later deadlines are
// preempted, the latest first, until there are; those that turn out not to be needed stay.
// Other running jobs do not move. Jobs without a deadline come last.
//
// With anew all jobs choose at each event, also running ones: a job moves whenever a better
// machine is free at its turn. This EDF ignores the cost of moves. It is stronger than the
// paper's as long as moving is free, and it moves jobs all the time.
//
// The paper says that a job takes the best available machine, is queued until the next
// step if there is none, and that preemption serves "to free resources to execute first
// new submitted job with an earliest deadline".
//
// It orders jobs "in decreasing order w.r.t. their deadline" and says that the earliest
// goes first; the latter is the default. Latest takes the former literally: the latest
// deadline first, jobs without one before all. Queued is in between: waiting jobs choose in
// that order, and a new job takes its machine from later deadlines, the earliest such job
// first. Both are worse than EDF proper.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, sections 2 and 6.
package edf
