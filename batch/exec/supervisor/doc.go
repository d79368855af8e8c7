// Package supervisor runs a site's programs in a process that outlives the server, and
// reports to the server what became of them.
//
//	server ── Client ──unix socket──▶ supervisor ──▶ gate ──exec──▶ program
//	             │                        │            (a process group for each)
//	             │ reads, claims          │ claims, appends
//	             └────────▶ DIR/E-A ◀─────┘
//	                  (package journal)
//
// There is one supervisor for a data directory: it holds DATA/supervisor.lock,
// listens on DATA/supervisor.sock and logs to DATA/supervisor.log. The client starts it
// in a new session when no process listens. It exits by itself when no client is
// connected and no program is left.
//
// # One launch
//
//  1. claim: create the attempt file; its creator decides (docs/architecture.md, A job's life)
//  2. fork a process that waits at a gate
//  3. run: append the identity of that process to the file
//  4. open the gate: the process executes the program
//  5. end: append the end to the file, when the whole process group is gone
//
// Each step is durable before the next. When a supervisor dies, its gates shut and its
// programs continue. The next one learns from the file what happened:
//
//	no file                     unclaimed: it runs only if a client asks again
//	claimed by the server       barred: it never runs
//	claimed, no run             never ran: it died before the gate was open
//	run, that process exists    running: watched from now on, its end will be lost
//	run, it does not exist      lost: it may have run, its end was not observed
//	an end                      that end
//
// The next supervisor reads a file when a client asks for it: a client that is
// connected to a new supervisor attaches to every attempt it follows.
//
// # Control groups
//
// A launch can name cgroup.procs files (SpawnIn): the process at the gate is in those
// groups before the gate opens, and an attempt that cannot enter them never runs. Their
// owner sets the limits first. When the program has ended, the remaining processes in
// the groups are killed, including those that have left its process group.
//
// # Lease
//
// On a node (Config.Leased) programs live on a lease, and die with their supervisor:
// PR_SET_PDEATHSIG kills the first process of each, a guard of package process kills the
// rest of their control groups, and the starter of the next supervisor clears the groups
// once more. The guard needs 4 MiB on a node.
//
//	client                         supervisor
//	  │◀───────── token k ────────────│ made at T
//	  │── Renew(token k, d) ─────────▶│ until T+d, whatever the network delay
//	  │── Spawn(token k) ────────────▶│ refused from T+d on
//
// When the lease ends without renewal, all programs are killed and reported as lost
// with that reason. A client that received token k at S on its own clock and has sent
// no later one knows that by S+d nothing runs there, and that no launch it has sent can
// take effect: a partition that heals causes no second run.
//
// # Full disk
//
// A launch that cannot write its claim or its run does not run. An end that cannot be
// written is reported, kept, and retried; the supervisor does not exit before that.
//
// # Long paths
//
// The address of a socket is limited to about 100 bytes. If the data directory's path
// is longer, both sides name the socket through a descriptor of the directory
// (/proc/self/fd/N/supervisor.sock).
package supervisor
