// Package services holds what the bundled services share: the error for an
// argument out of range, and output files that appear whole or not at all.
//
// The bundled services are the programs a grid can run out of the box. Each
// computes something real and is a package of its own:
//
//	gemm        multiplies matrices that travel as blocks of numbers
//	lu          solves A x = b, read from a Matrix Market file
//	mandelbrot  renders the Mandelbrot set as a PNG
//	primes      counts primes; can be stopped and go on
//
// A service is a Config with Validate, and a Run that does the work. It is
// started like any other program, as a process of its own, and knows nothing
// of the grid around it:
//
//	server ── exec ──> drover service lu --matrix A.mtx --threads 4 --output x.mtx
//	                        │ flags → lu.Config → Validate → lu.Run
//	SIGTERM ────────────────┴─> ctx cancelled: stop soon, leave no output file
//
// gemm, lu and mandelbrot are moldable: the same job runs on any number of threads and writes
// the same bytes, only sooner.
package services
