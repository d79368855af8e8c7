// Package catalogue describes what a site offers: services with typed arguments, a
// performance model of their runtime by width, and the command that runs them.
//
//	catalogue.yaml ──Load──▶ Catalogue ──Service──▶ Service
//	                                                  │
//	given arguments ──────────Bind (types, ranges)──▶ Values
//	                                                  │
//	          site's width and speed ──────Shapes────▶│──▶ widths and walltimes
//	          the job's shape and paths ────Args─────▶┘──▶ argument vector
//
// A file looks like this:
//
//	version: 1
//	services:
//	  - name: lu
//	    doc: Solves a dense linear system.
//	    args:
//	      - {name: matrix, type: file, doc: The matrix in Matrix Market format.}
//	      - {name: repeat, type: int, min: 1, max: 100, default: 1}
//	      - {name: solution, type: file-out}
//	    command: [drover, service, lu, "--matrix={matrix}", "--threads={width}", "--output={solution}"]
//	    env: {GOMAXPROCS: "{width}"}
//	    memory: 256MiB
//	    walltime: {factor: 1.5, margin: 2s}
//	    model:
//	      amdahl: {work: repeat * 2e-9 * (matrix.size / 20) ** 1.5, parallel: 0.95, limit: 16}
//
// There are three models. amdahl is Amdahl's law with a limit: wider jobs get no more
// speedup; min_width and max_width bound the offered widths. table lists a time for each
// width. fixed has one width: the service is rigid. Times refer to a processor of speed
// 1.0. Work and times can be formulas over the arguments, in which every number is a
// float64 and a file argument has a size in bytes.
//
// A vector or matrix is a file too: one block of elements, with its dimensions stated
// separately. Formulas can use them (a.length, b.rows, b.cols), and formulas set the
// dimensions of outputs:
//
//	{name: a, type: matrix}
//	{name: b, type: matrix, dims: [a.cols, b.cols]}      its rows match a's columns
//	{name: c, type: matrix-out, dims: [a.rows, b.cols]}
//
// # Rounding
//
// The slots of a plan must be the same on every machine. Formulas and models use float64
// with an explicit conversion after each operation, which the Go specification forbids
// compilers to fuse with the next. The result is rounded to the nearest microsecond. All
// later steps are exact integer arithmetic: the division by the site's speed, rounded up
// to the microsecond, and the walltime, rounded up to the second. (log, log2, exp and **
// with a fractional exponent can differ in the last bit between processor families. That
// matters only for a time within that bit of half a microsecond.)
package catalogue
