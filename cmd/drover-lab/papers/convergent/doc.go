// Package convergent compares our experiments with the paper on convergent scheduling:
// table 1, figures 3 to 8, and its claims. Package farm below makes the rows.
//
// Algorithms are compared on the seeds that both have. why.yaml has the reasons for claims
// that differ.
//
// Source: G. Capannini, R. Baraglia, D. Puppini, L. Ricci, M. Pasquali, "A Job Scheduling
// Framework for Large Computing Farms", SC07, section 6.
package convergent
