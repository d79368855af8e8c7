// Package lu is the bundled service that solves a dense linear system A x = b
// by LU factorization with partial pivoting.
//
// A is read from a Matrix Market file. b is read from another, or is A times ones, so that
// the solution is known. The solution goes to a Matrix Market array file, and a report to
// standard output:
//
//	matrix     147 x 147, 1298 listed (coordinate real symmetric)
//	threads    2
//	condition  5.4e+06 (1-norm, estimated)
//	residual   4.5e-16
//	seconds    0.000512 (factorize and solve, 1 time)
//
// residual is ||Ax-b|| / (||A|| ||x|| + ||b||) in infinity norms, the normwise backward
// error: about 1e-16 for a system solved to the precision of float64 (Higham, Accuracy and
// Stability of Numerical Algorithms, 7.1).
//
// The factorization is the blocked right-looking algorithm of LAPACK's dgetrf on gonum's
// kernels. gonum's own Getrf runs only matrix products in parallel, on GOMAXPROCS threads.
// Here exactly `threads` goroutines share the part right of each panel, which is cut into
// stripes of columns:
//
//	 done  panel   stripes
//	┌────┬──────┬───┬───┬───┐   panel:  factorized by one thread
//	│ U  │  U   │ U │ U │ U │   stripe: rows swapped, triangular solve,
//	├────┼──────┼───┼───┼───┤           product with the panel;
//	│ L  │ L\U  │   │   │   │           by whichever thread is free
//	│    │ pivot│ A │ A │ A │
//	└────┴──────┴───┴───┴───┘
//
// Small systems gain nothing from threads: a panel has 48 columns, and up to that size one
// thread does everything. The result has the same bits for any number of threads. Threads
// beyond the processors of the process (GOMAXPROCS) wait for each other.
package lu
