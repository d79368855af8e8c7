// Package gemm is the bundled service that multiplies matrices:
// C = alpha A B + beta C, in float64, as BLAS' dgemm does.
//
// The matrices are blocks of little-endian numbers, rows one after the other, as they
// travel over the grid; C is read, and replaced by the result. A report goes to standard
// output:
//
//	product  600 x 400 x 500 (C = 1 A B + 0 C)
//	threads  2
//	seconds  0.041210 (5.8 Gflop/s)
//
// The kernel is a plain blocked one, without assembly. B is taken in panels that fit a
// processor's cache; each is used for all rows, four rows of C at a time, which share what
// is read of the panel:
//
//	        columns ──▶                       threads take stripes of rows
//	inner  ┌───────┬───────┐           ┌───────┬───────┐
//	  │    │ panel │       │    A[i,p] │▒▒▒▒▒▒▒│       │ 4 rows of C +=
//	  ▼    ├───────┼───────┤   ──────▶ ├───────┼───────┤   A[4 rows, panel's rows]
//	       │       │       │           │       │       │   × panel
//	       └───────┴───────┘ B         └───────┴───────┘ C
//
// Each element of C is summed up in the order of B's rows, whatever the blocks and the
// threads are: so the result has the same bits with any number of threads. As in BLAS,
// C is not read where beta is 0, and neither are A and B where alpha is.
//
// The idea of the blocks is that of K. Goto and R. A. van de Geijn, Anatomy of
// High-Performance Matrix Multiplication, 2008, without its packing.
package gemm
