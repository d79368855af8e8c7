// Package heuristic holds the heuristics of convergent scheduling. Each one looks at one aspect
// of a job and adds points for it to the Job-Machine matrix (package farm).
//
//	requirements   machines that can run the job; all other entries are 0
//	deadline       more points close to the deadline, and more on fast machines
//	licenses       more for jobs that hold many licenses, above all scarce ones
//	input          more where less input data must be moved
//	wait           more for jobs that end soon, on fast machines
//	overhead       more on the machine of the last plan
//	aging          more the longer ago the submission was
//
// A Collection is a list of them and fills a matrix in one pass:
//
//	Begin, each heuristic ──▶ for each row:  Look, each ──▶ Base, and a key
//	                                           │
//	                          same keys as in the last pass?  keep the cells
//	                                           └─ else:  Write, each ──▶ cells
//
// The cells of a row are recomputed only if their inputs have changed: the job runs, is in the
// last phase before its deadline, has another machine in the plan, or is new. Every other job
// costs a few additions, independent of the number of machines. The result is the same as that
// of a pass from scratch.
//
// To add a heuristic, write its type in a file and add a line to Constants.Heuristics.
//
// Comments in each heuristic describe how it handles cases that the paper leaves open. No
// heuristic subtracts points: entries of eligible machines stay positive.
//
// Constants are exact decimals. Floating-point operations are rounded one by one in a fixed
// order (no fused operations), their results are rounded to units of 2^-20 when they are added,
// and no comparison uses them. An entry is within one unit per heuristic of the exact value.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, section 4.1; the constants are those of its footnote 1.
package heuristic
