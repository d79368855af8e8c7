// Package needs corrects the declared needs of a job's tasks by measurements while they
// run ("instantaneous resource needs can be discovered via monitoring", section 2.1 of
// Stillwell, Vivien and Casanova, "Dynamic Fractional Resource Scheduling vs. Batch
// Scheduling"). It does no I/O: a driver measures, reads the estimate, and applies it to
// a policy as batch.Measured.
//
//	need  1.0 ┤▔▔╲__                      declared 1.0, uses 0.3
//	          │     ╲___                  slowly down to that, plus an eighth
//	      0.4 ┤         ▔▔▔▔▔▔▔▔▔╱▔▔▔     throttled although its share is the whole
//	          └──────────────────────▶    estimate: slowly up
//
// CPU: a task that was not throttled shows its need. A throttled task had less than its
// need, so it shows nothing, unless its share was the whole estimate: then it needs more.
// So an estimate that has become too low, or a declared need that is too low, is
// detected. A sample over a time t corrects t/(t+Pace) of the difference.
//
// Memory: a task must never exceed what the plan uses. That follows the highest use
// immediately, and is never below the task's limit, up to which it can grow at any time;
// without a limit, it is never below the declared need. So a lower use is reported, but
// the plan does not use it.
//
// # Why planned memory does not fall
//
// To plan with less than the declared memory, the limit would have to be lowered first.
// Other jobs use what that frees, and for a task that then grows to its limit there are
// only three ways:
//
//   - raise the limit: the node may have no memory left for it, and that is not known
//     before;
//   - wait until another job has stopped at a checkpoint: not every job can, and the
//     kernel kills at a limit or, if it is told not to (version 1), blocks the task with
//     all the locks it holds;
//   - kill the task, with less memory than was declared and promised.
//
// A job can use the last byte of its declared memory in its last second: no measurement
// before shows that it does not. Only the user can declare less, guided by the highest
// use that Found returns.
//
// # Words
//
//   - declared: in the request
//   - need: the current estimate
//   - sample: a measurement of all tasks of a group, the highest value of each field
//   - throttled: waited for its quota
package needs
