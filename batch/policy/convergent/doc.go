// Package convergent is convergent scheduling: a policy for a farm of machines of unequal
// power, one job on each, where jobs have deadlines and need licenses.
//
//	event ─▶ heuristics ──▶ pre-matching ──▶ matching ──▶ plan ──▶ pause, resume, start
//	         points for     who of those     who goes       │      (package roster)
//	         each job on    that compete     where          │
//	         each machine   for licenses     ▲              │
//	                        gets them        └── last plan ◀┘
//
// At each event the heuristics (package heuristic) fill the Job-Machine matrix, jobs that
// do not get their licenses (package license) are left out until the next event, and the
// matching (package matching) says who is where.
//
// # Algorithms
//
//	CS_ip     goes on from the last plan (incremental), and preempts
//	CS_inp    goes on from the last plan; who runs stays
//	CS_nip    plans from nothing, and preempts
//	CS_ninp   plans from nothing; who runs stays
//	BF-easy, BF-rm, BF-unrm   backfilling, for comparison (package backfill)
//	EDF       earliest deadline first, for comparison (package edf)
//
// # Without preemption
//
// The paper lets jobs stay by Δ = 800, which is the default there, too. But 800 points
// are no proof: so the machines of jobs that run, and those jobs, are left out of the
// matching. What is left is small: jobs that wait, and machines that are free. Their
// licenses are theirs before pre-matching gives others any.
//
// # How long a plan takes
//
// For N jobs and M machines: O(N) for rows that have not changed and O(M) for one that
// has, O(N log N) for licenses, and the matching (see there). Without preemption O(NF)
// for F free machines takes the place of O(NM).
//
// # Beyond the paper
//
// The settings avoid and refill, which are off, and the preset deadlines (preset.go). The
// first keeps machines that would miss a deadline from attracting a job
// (heuristic.Deadline.Avoid). With the second, jobs that pre-matching has discarded are
// looked at once more when the matching is made: those who got licenses and no machine
// leave them to others, as long as machines are free.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07.
package convergent
