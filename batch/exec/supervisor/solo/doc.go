// Package solo runs the program of one attempt in the foreground, at most once, where
// an external batch system starts attempts and there is no supervisor.
//
//	server ──▶ batch script          with the Spec of the attempt
//	batch system ──▶ Run ──claim──▶ DIR/E-A   (package journal)
//	                  │    ──run───▶
//	                  ├──▶ program, in its own process group
//	                  └────end────▶
//
// The claim decides whether the attempt runs. A second start runs nothing and leaves a
// notice for the server; so does the start of an attempt that the server has claimed,
// without a notice. Run records its own process before it starts the program. A claim
// without that record therefore proves that nothing ran.
//
// If the batch system loses contact with a node, the attempt there can still run, and
// no signal reaches it. Stop creates a file that Run looks for every few seconds, so
// that the attempt ends before or soon after its successor starts. An attempt that stops
// this way without exit code 0 is lost.
//
// Run passes signals on to the program. To kill Run itself, a batch system must also kill
// the program: it has to track a job's processes by control group or descent.
package solo
