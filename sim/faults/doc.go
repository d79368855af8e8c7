// Package faults searches for faults that make Drover lose a job or run it twice.
//
// A seed determines a small grid and all its faults. Production code makes the decisions:
// server/site with a real policy and server/loop for each site, client/submission for each
// client. The network, disks, clocks, supervisors and processes are simulated.
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
// A commit takes up to seconds and can fail. A server can be killed during a commit, before or
// after the write reaches the disk, and between the effects of a commit. It loses everything
// that is not on the disk. The host keeps running.
//
// The batch systems of some sites ask before they start a job, as the embedded one does. The
// others start jobs unseen, as Slurm does.
//
// At every durable write and every start of a process, the true state is compared with the
// invariant CHECK of docs/protocol/move.pml: exactly one site has authority over an accepted
// job, or one site hands it over with all its data while another one expects it. At the end the
// faults stop and everything has to settle: each job has one outcome, at one site, and no
// client got another answer. Then old messages arrive again, and nothing may change.
//
// A truth is the truth about a job, unknown to all simulated processes. A plant is a bug in the
// simulated environment that the checks must catch. Calm is the time after the faults.
//
// docs/faults.md lists what is covered and explains how to replay a seed. The rules come from
// docs/protocol/move.pml.
package faults
