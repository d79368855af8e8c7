// Package convergent is convergent scheduling: a policy for a farm of machines of unequal
// power, one job on each, where jobs have deadlines and need licenses.
//
//	event ─▶ heuristics ──▶ pre-matching ──▶ matching ──▶ plan ──▶ pause, resume, start
//	         points for     which jobs       job per        │      (package roster)
//	         each job on    get licenses     machine        │
//	         each machine                    ▲              │
//	                                         └── last plan ◀┘
//
// At each event the heuristics (package heuristic) fill the Job-Machine matrix, jobs
// without their licenses (package license) are left out until the next event, and the
// matching (package matching) assigns jobs to machines.
//
// # Algorithms
//
//	CS_ip     starts from the last plan (incremental), and preempts
//	CS_inp    starts from the last plan; running jobs stay
//	CS_nip    plans from scratch, and preempts
//	CS_ninp   plans from scratch; running jobs stay
//	BF-easy, BF-rm, BF-unrm   backfilling, for comparison (package backfill)
//	EDF       earliest deadline first, for comparison (package edf)
//
// # Without preemption
//
// The paper keeps running jobs in place by Δ = 800, which is the default here too. But 800
// points guarantee nothing, so running jobs and their machines are left out of the
// matching, which then has only waiting jobs and free machines. Running jobs keep their
// licenses before pre-matching assigns the others.
//
// # How long a plan takes
//
// For N jobs and M machines: O(N) for unchanged rows and O(M) for each changed one, O(N
// log N) for licenses, plus the matching (see there). Without preemption the matching is
// O(NF) for F free machines instead of O(NM).
//
// # Beyond the paper
//
// The settings avoid and refill, which are off by default, and the preset deadlines
// (PresetDeadlines). With avoid, machines that would miss a deadline do not attract a job
// (heuristic.Deadline.Avoid). With refill, jobs that pre-matching discarded are considered
// again after the matching: jobs with licenses but without a machine leave them to others
// while machines are free.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07.
package convergent
