// Package services holds the shared code of the bundled services: the error for an
// argument out of range, and atomic output files.
//
// The bundled services are programs that a grid can run without further installation. Each
// is a separate package:
//
//	gemm        multiplies matrices in the binary format of the grid
//	lu          solves A x = b, read from a Matrix Market file
//	mandelbrot  renders the Mandelbrot set as a PNG
//	primes      counts primes; writes checkpoints and resumes
//
// A service is a Config with Validate, and a Run that does the work. The server starts it
// in a separate process, like any other program; a service does not depend on the grid:
//
//	server ── exec ──> drover service lu --matrix A.mtx --threads 4 --output x.mtx
//	                        │ flags → lu.Config → Validate → lu.Run
//	SIGTERM ────────────────┴─> ctx cancelled: stop soon, leave no output file
//
// gemm, lu and mandelbrot are moldable: a job runs on any number of threads and always
// writes the same bytes.
package services
