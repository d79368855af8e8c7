// Package process starts programs as process groups, and identifies processes across
// the reuse of their numbers.
//
//	Start ──▶ leader ──▶ its children …     one group, numbered like its leader
//	            │
//	            └─ ended: the others are killed, and Wait returns only when
//	               all are gone
//
// The goroutine in Wait watches a [Group]. A [Reaper] does the same for any number of
// groups with one thread, and adopts the orphans of their programs; it must be the only
// code of its process that starts or reaps children.
//
// # Gate
//
//	Reaper.Start ──fork──▶ [Gate] waits on a pipe
//	   the caller records its identity
//	Gated.Open ──program, arguments, environment──▶ exec, same process number
//	   ▲                                              │
//	   └── pipe closed by exec: it runs; an error number: it does not
//
// A program behind a gate cannot run before its starter opens the gate. When the
// starter dies first, the gate reads the end of its pipe and exits. So if the starter
// makes a record before it opens the gate, the absence of the record proves that the
// program never ran.
//
// # Guard
//
// A [Guard] is a process that waits on a pipe for the end of its starter, and then
// kills all processes in the control groups registered with it. A signal at the
// parent's death (Reaper.Bind) reaches only the first process of each program.
//
// # Identity
//
// Process numbers are reused. An [ID] is the number, the start time in clock ticks
// after boot and the kernel's ID of that boot; both survive exec.
//
// Gates, guards, reapers and identities need Linux. Elsewhere they return
// errors.ErrUnsupported.
package process
