// Package supervisor runs a site's programs in a process that outlives the
// server, and tells the server what became of them.
//
//	server ── Client ──unix socket──▶ supervisor ──▶ gate ──exec──▶ program
//	             │                        │            (a process group for each)
//	             │ reads, claims          │ claims, appends
//	             └────────▶ DIR/E-A ◀─────┘
//	                  (package journal)
//
// There is one supervisor for a data directory: it holds DATA/supervisor.lock,
// listens on DATA/supervisor.sock and logs to DATA/supervisor.log. The client
// starts it, in a session of its own, when nobody answers. It ends by itself
// when nobody is connected and no program is left.
//
// # One launch
//
//  1. claim: the attempt file is made; who makes it decides (DESIGN, Starting
//     once)
//  2. a process is made that waits at a gate
//  3. run: who that process is goes into the file
//  4. the gate is opened, the process executes the program
//  5. end: how it ended goes into the file, when nobody of its group is left
//
// Each step is durable before the next. When a supervisor dies, its gates shut
// and its programs run on. What the next one finds says what happened:
//
//	no file                     unclaimed: nobody ever will, unless asked again
//	claimed by the server       barred: it never runs
//	claimed, no run             never ran: it died before the gate was open
//	run, that process is there  running: watched from now on, its end will be lost
//	run, it is not there        lost: it may have run, nobody saw its end
//	an end                      just that
//
// The next supervisor looks when it is asked: a client that finds itself
// connected to another one attaches to everything it follows.
//
// # Control groups
//
// A launch may name files cgroup.procs (LaunchIn): the process at the gate is in
// those groups before the gate is opened, and an attempt that cannot enter them
// never runs. Limits are their owner's to set before. Whoever is still in them when
// the program has ended is killed, those too that have left its process group.
//
// # Lease
//
// On a node (Config.Leased) programs live on a lease, and die with their supervisor
// (PR_SET_PDEATHSIG: the first process of each; a guard of package process kills whoever
// else is in their control groups, and whoever starts the next supervisor clears them
// once more). The guard takes 4 MiB of a node.
//
//	client                         supervisor
//	  │◀───────── token k ────────────│ made at T
//	  │── Renew(token k, d) ─────────▶│ until T+d, however long this was on its way
//	  │── Launch(token k) ───────────▶│ refused from T+d on
//
// When the lease ends without renewal all programs are killed, and their ends are
// lost, with that reason. A client that got token k at its own instant S and has
// sent no later one knows that by S+d nothing runs there, and that no launch it has
// sent can begin anything: a partition that heals brings no second run.
//
// # Full disk
//
// A launch that cannot write its claim or its run does not run. An end that
// cannot be written is told, kept, and tried again; the supervisor stays for it.
//
// # Long paths
//
// The address of a socket has about 100 bytes. Where the data directory's path
// is longer, both sides name the socket through a descriptor of the directory
// (/proc/self/fd/N/supervisor.sock).
package supervisor
