// Package needs corrects what the tasks of a job were said to need by what is measured
// while they run ("instantaneous resource needs can be discovered via monitoring",
// section 2.1 of Stillwell, Vivien and Casanova, "Dynamic Fractional Resource Scheduling
// vs. Batch Scheduling"). It is a core: a driver measures, asks what is believed now,
// and tells a policy by batch.Measured.
//
//	need  1.0 ┤▔▔╲__                      declared 1.0, uses 0.3
//	          │     ╲___                  slowly down to that, and an eighth more
//	      0.4 ┤         ▔▔▔▔▔▔▔▔▔╱▔▔▔     throttled though it has all it is believed to
//	          └──────────────────────▶    need: slowly up
//
// CPU: a task that had as much as it wanted shows what it needs. One that was throttled
// shows nothing, for it had less than its need because of others; unless its share was
// all of what it is believed to need: then it needs more. So a need that was corrected
// too far is found out, and one that was declared too low, too. Of the difference, a
// sample over a time t takes t/(t+Pace).
//
// Memory: what is planned with must never be exceeded. It is at once the highest use ever
// seen, and never below the limit that holds a task, under which it may grow at any time;
// without a limit, never below what was declared. So what uses less than was declared is
// shown and not planned with.
//
// # Why memory does not fall
//
// To plan with less than was declared, the limit would have to be lowered first. What is
// freed by that goes to others, and a task that then grows to its limit can only
//
//   - have it raised: the node would hold more than it has, unless it has room left, which
//     is not known before;
//   - wait until another job has made place: that takes a checkpoint, of a job that can
//     make one, while the kernel kills at a limit, or, where it can be told not to
//     (version 1), leaves the task hanging with whatever locks it holds;
//   - be killed, with less than was declared and promised to it.
//
// Of the declared memory a job may need the last byte in its last second: no measurement
// before shows that it does not. Only whoever declares can lower it, by the highest use
// that Found returns.
//
// # Words
//
//   - declared: what the request says
//   - need: what is believed by now
//   - sample: what was measured of all tasks of a group, of the largest of them each
//   - throttled: it had to wait for its quota
package needs
