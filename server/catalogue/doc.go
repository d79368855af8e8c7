// Package catalogue is what a site offers: services, their typed arguments, how
// long they run on how many processors, and the command that runs them.
//
//	catalogue.yaml ──Load──▶ Catalogue ──Service──▶ Service
//	                                                  │
//	given arguments ──────────Bind (types, ranges)──▶ Values
//	                                                  │
//	          site's width and speed ──────Shapes────▶│──▶ widths and walltimes
//	          what the job got ─────────────Args─────▶┘──▶ argument vector
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
// The models are amdahl (Amdahl's law, with a width beyond which the speedup
// stays; min_width and max_width bound what is offered), table (a time for each
// width) and fixed (one width: a rigid service). Times are those of a processor
// of speed 1.0; work and times may be formulas over the arguments in which every
// number is a float64 and a file argument has a size in bytes.
//
// A vector or matrix is a file as well: one block of elements, whose dimensions are known
// beside it. They are there in formulas (a.length, b.rows, b.cols), and what is to come
// out has its own from such formulas:
//
//	{name: a, type: matrix}
//	{name: b, type: matrix, dims: [a.cols, b.cols]}      as many rows as a has columns
//	{name: c, type: matrix-out, dims: [a.rows, b.cols]}
//
// # Rounding
//
// The plan's rectangles must be the same on every machine. Formulas and models
// are float64, with one conversion for each operation, which the language says
// may not be fused with the next. The result is rounded to the nearest
// microsecond; everything after that is exact integer arithmetic: the division
// by the site's speed, rounded up to the microsecond, and the walltime, rounded
// up to the second. (log, log2, exp and ** with a broken exponent may differ in
// the last bit between processor families, which matters only where a time lies
// within that bit of half a microsecond.)
package catalogue
