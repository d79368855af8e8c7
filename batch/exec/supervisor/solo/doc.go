// Package solo runs the program of one attempt in the foreground, once: where a
// batch system that is not Drover's own starts attempts, on nodes where there is no
// supervisor.
//
//	server ──▶ batch script          with the order: what to run
//	batch system ──▶ Run ──claim──▶ DIR/E-A   (package journal)
//	                  │    ──run───▶
//	                  ├──▶ program, a process group of its own
//	                  └────end────▶
//
// The claim decides whether the attempt runs: a second start of it, by a batch
// system that has lost count, or one of an attempt that the server has claimed for
// itself, runs nothing; of the first kind it leaves word. The process that is written
// down is Run's own; the program is started after that, so that a claim without it has
// provably run nothing.
//
// An attempt that the batch system has given up (its node does not answer) may run on,
// where no signal reaches it: Stop makes a file for which Run looks every few seconds,
// so that there is not a second attempt beside it for ever. What was told to stop, and
// did not end with 0, is lost.
//
// Signals are passed on to the program. Who kills Run itself has to kill the program
// with it, as batch systems do that follow a job's processes by control group or by
// descent.
package solo
