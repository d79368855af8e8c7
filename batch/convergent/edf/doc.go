// Package edf is earliest deadline first with preemption on a farm of unlike machines, as
// convergent scheduling is compared with it.
//
//	jobs      3 (by 10)   1 (by 20)   4 (by 20)   2 (whenever)     by deadline, then submission
//	            │           │           │           └ waits
//	machines  [600]       [400]       [200]                        by falling score, then index
//
// At each event all jobs choose anew, in that order: each takes the machine of the highest
// score that is left and that can run it, if there are copies of its licences left. Those
// who find nothing are paused, or wait. Jobs without a deadline come last. A job whose
// machine is as good as the best one stays.
//
// The paper orders jobs "in decreasing order w.r.t. their deadline" and says that the
// earliest goes first; that is what is done.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, sections 2 and 6.
package edf
