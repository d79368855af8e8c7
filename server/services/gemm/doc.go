// Package gemm is the bundled service that multiplies matrices:
// C = alpha A B + beta C, in float64, as BLAS' dgemm does.
//
// The matrices are little-endian blocks in row-major order, the format of the grid's
// transfers. C is read and replaced by the result. A report goes to standard output:
//
//	product  600 x 400 x 500 (C = 1 A B + 0 C)
//	threads  2
//	seconds  0.041210 (5.8 Gflop/s)
//
// The kernel is blocked, without assembly. It splits B into panels that fit a processor's
// cache, and uses each panel for all rows, four rows of C at a time, which share the reads
// of the panel:
//
//	        columns ──▶                       threads take stripes of rows
//	inner  ┌───────┬───────┐           ┌───────┬───────┐
//	  │    │ panel │       │    A[i,p] │▒▒▒▒▒▒▒│       │ 4 rows of C +=
//	  ▼    ├───────┼───────┤   ──────▶ ├───────┼───────┤   A[4 rows, panel's rows]
//	       │       │       │           │       │       │   × panel
//	       └───────┴───────┘ B         └───────┴───────┘ C
//
// Each element of C is summed in the order of B's rows, independent of blocks and threads,
// so the result has the same bits with any number of threads. As in BLAS, C is not read if
// beta is 0, and A and B are not read if alpha is 0.
//
// The blocks follow K. Goto and R. A. van de Geijn, Anatomy of High-Performance Matrix
// Multiplication, 2008, without packing.
package gemm
