// Package lu is the bundled service that solves a dense linear system A x = b
// by LU factorization with partial pivoting.
//
// A comes from a Matrix Market file; b from another, or is A times ones, so
// that the right answer is known. The solution goes to a Matrix Market array
// file, and a report to standard output:
//
//	matrix     147 x 147, 1298 listed (coordinate real symmetric)
//	threads    2
//	condition  5.4e+06 (1-norm, estimated)
//	residual   4.5e-16
//	seconds    0.000512 (factorize and solve, 1 time)
//
// residual is ||Ax-b|| / (||A|| ||x|| + ||b||) in infinity norms, the
// normwise backward error: about 1e-16 for a system solved as well as float64
// allows (Higham, Accuracy and Stability of Numerical Algorithms, 7.1).
//
// The factorization is the blocked right-looking algorithm of LAPACK's dgetrf
// on gonum's kernels. gonum's own Getrf leaves everything but its matrix
// products to one thread, and takes their number of threads from GOMAXPROCS.
// Here the part right of each panel is cut into stripes of columns, which
// exactly `threads` goroutines share:
//
//	 done  panel   stripes
//	┌────┬──────┬───┬───┬───┐   panel:  factorized by one thread
//	│ U  │  U   │ U │ U │ U │   stripe: rows swapped, triangular solve,
//	├────┼──────┼───┼───┼───┤           product with the panel;
//	│ L  │ L\U  │   │   │   │           by whichever thread is free
//	│    │ pivot│ A │ A │ A │
//	└────┴──────┴───┴───┴───┘
//
// So small systems gain nothing from threads: a panel is 48 columns wide, and
// up to that size one thread does everything. The result is the same to the
// last bit for any number of threads. Threads beyond the processors the
// process may use (GOMAXPROCS) wait for each other.
package lu
