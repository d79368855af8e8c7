// Package faults tries to break the rules by which Drover neither loses a job
// nor runs it twice.
//
// A seed makes a small grid, and all that happens to it. The cores are those that
// production runs: server/site for each site, under a real policy, and
// client/submission for each client. What lies around them is simulated: the
// network, disks, clocks, supervisors, processes, and the driver that package
// server is on a live grid.
//
//	 client ── session.Submission, session.Pursuit       agent: random orders
//	   │  ▲                                                │ Move, Hold, Place
//	   ▼  │   messages: lost, doubled, late, out of order  ▼
//	┌─ server ───────────────────────────────────────────────────┐ killed between
//	│  site.Site ─ Take ─▶ disk, after a while ─▶ replies,       │ any two steps
//	│      ▲                                      claims, commands, messages
//	│      └── Starting, Running, Ended ── system: policy under batch/engine
//	└────────────────────────────────────────────────│───────────┘
//	  host: claims, supervisor, processes ◀─ launch ─┘   outlives the server
//
// The rule of the driver is that of site.Effects: what a call of the core allows
// is let go when all that the core knew by then is on the disk. A server that is
// killed loses the rest. The host goes on.
//
// Some sites have a batch system that asks before it starts a job, as the embedded
// one does; that of others starts jobs by itself, unseen, as Slurm does.
//
// Whenever something becomes durable, or a process starts, the truth is held
// against the invariant CHECK of docs/protocol/move.pml: one site has authority
// over an accepted job, or one hands it over and keeps all of it while the other
// one expects it. In the end the faults stop, and everything has to come to rest:
// each job has one outcome, at one site, and nobody was told anything else. Then
// messages of old come again, and nothing may change.
//
// Words: a fact is the truth about a job, which nobody in the grid knows. A plant
// is a bug put into the simulated driver, to see that it is caught. The chaos is
// the time of the faults, the calm what follows.
//
// docs/faults.md says what is covered and how a seed is replayed. The source of
// the rules is docs/protocol/move.pml.
package faults
