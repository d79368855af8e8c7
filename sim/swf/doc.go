// Package swf reads and writes workloads in the Standard Workload Format, the
// format of the Parallel Workloads Archive.
//
// A workload is text, plain or gzipped. Lines that start with a semicolon are
// comments, most of them "Label: value" pairs at the top; every other line is
// one job of 18 numbers, -1 standing for "unknown":
//
//	; MaxProcs: 128                                   Header
//	1    0  12  937  16 142.00 -1  16  1200 -1  1  97 1 307 3 1 -1 -1
//	|    |   |    |   |   |     |   |    |   |  |   |  |  |  | |  |  |
//	job  | wait run   |  CPU    |  req.  |   |  | user |  |  | |  |  think time
//	  submit        procs  memory procs time | status group | | | preceding job
//	                                    memory            app | partition
//	                                                        queue
//
// Reading is a pipeline of two goroutines. One inflates and cuts the text into
// blocks of whole lines, the other turns lines into jobs; a block is handed
// back and reused, so the text is never held:
//
//	file -> inflate -> [lines][lines]..[lines] -> parse -> []Job
//	                 ^-------- reused <--------'
//
// The blocks arrive in the order of the file, so the second goroutine saves
// time and cannot change a result.
//
// # What is accepted
//
//   - LF or CRLF line ends, with or without one after the last line; spaces
//     and tabs, as many as there are, before, between and after the fields;
//     blank lines; comments anywhere (written back at the top).
//   - Exactly 18 fields a line. The archive's logs have 18 throughout, and a
//     short line cannot say which field is the absent one.
//   - A number is digits with an optional minus and an optional decimal part
//     (12, -1, 142.00). Amounts (times and memory) may have a decimal part and
//     are rounded to the nearest whole unit, halves upwards; in the other
//     fields the decimal part must be zero.
//   - Any negative value means unknown and becomes -1; other values than -1
//     are counted in [Trace.Normalized]. The job number and the submit time
//     must be known.
//   - Jobs out of order are sorted by submit time, those of equal times in the
//     order of the file, and counted in [Trace.Reordered].
//
// Everything else is a [*ParseError] with line, field, value and what would
// have been accepted, including values above the exported limits. Job numbers
// are not checked for being unique.
//
// The format: S. Chapin et al., "Benchmarks and standards for the evaluation
// of parallel job schedulers", JSSPP 1999, and
// https://www.cs.huji.ac.il/labs/parallel/workload/swf.html. The logs: D.
// Feitelson, D. Tsafrir, D. Krakov, "Experience with using the Parallel
// Workloads Archive", JPDC 74(10), 2014.
package swf
