// Package faults tries to break the rules by which Drover neither loses a job nor runs it
// twice.
//
// A seed makes a small grid and everything that happens to it. The decisions are made by the
// code that production runs: server/site under a real policy and server/loop for each site,
// client/submission for each client. The network, disks, clocks, supervisors and processes
// around them are simulated.
//
//	 client ── submission.Submission, Pursuit            agent: random commands
//	   │  ▲                                                │ Move, Hold, Place
//	   ▼  │   messages: lost, doubled, late, out of order  ▼
//	┌─ server ───────────────────────────────────────────────────┐ killed between
//	│  loop.Loop ── Commit ─▶ disk, after a while ─▶ claims,     │ any two steps
//	│      │ Do                    commands, messages, answers   │
//	│  site.Site ◀── Starting, Running, Ended ── system:         │
//	│                                   policy in batch/engine   │
//	└────────────────────────────────────────────────│───────────┘
//	  host: claims, supervisor, processes ◀─ launch ─┘   outlives the server
//
// A commit takes up to seconds and can fail. A server can be killed during a commit, when
// the write is on the disk or not, and after each thing that a commit allows. It loses
// everything that is not on the disk. The host keeps running.
//
// Some sites have a batch system that asks before it starts a job, as the embedded one does.
// The others start jobs unseen, as Slurm does.
//
// Whenever a record becomes durable or a process starts, the truth is compared with the
// invariant CHECK of docs/protocol/move.pml: exactly one site has authority over an accepted
// job, or one site hands it over and keeps all of it while the other one expects it. At the
// end the faults stop, and everything has to come to rest: each job has one outcome, at one
// site, and no client was told anything else. Then old messages come again, and nothing may
// change.
//
// A fact is the truth about a job, which no simulated process knows. A plant is a bug in the
// simulated surroundings, to show that it is caught. Calm is the time after the faults.
//
// docs/faults.md says what is covered and how to replay a seed. The source of the rules is
// docs/protocol/move.pml.
package faults
