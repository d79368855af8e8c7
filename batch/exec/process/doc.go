// Package process starts programs as process groups, and says of a process
// whether it is still the one it was.
//
//	Start ──▶ leader ──▶ its children …     one group, its number is the leader's
//	            │
//	            └─ has ended: the others are killed, and only when nobody is
//	               left does Wait return
//
// A [Group] is watched by the goroutine that waits for it. A [Reaper] does the
// same for any number of groups with one thread, and takes in what their
// programs leave behind; it wants the whole process for itself.
//
// # Gate
//
//	Reaper.Start ──fork──▶ [Gate] waits on a pipe
//	   the caller writes down who it is
//	Gated.Open ──program, arguments, environment──▶ exec, same process number
//	   ▲                                              │
//	   └── pipe closed by exec: it runs; an error number: it does not
//
// A program started behind a gate cannot run before its starter wants it to.
// When the starter dies first, the gate reads the end of its pipe and exits. So
// whoever finds a note that was to be written before the gate was opened knows
// that without the note nothing ran.
//
// # Guard
//
// A [Guard] is a process that waits on a pipe for the end of its starter, and then
// kills whoever is in the control groups that it was told of: a signal at the parent's
// death (Reaper.Bind) reaches the first process of each program only.
//
// # Identity
//
// Process numbers are used again. An [ID] is the number, the instant of the
// start in clock ticks after boot and the kernel's name of that boot; both
// instants survive exec.
//
// Gates, guards, reapers and identities need Linux. Elsewhere they return
// errors.ErrUnsupported.
package process
