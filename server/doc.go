// Package server is the driver of one site: it gives the core in package site
// time, a disk, an embedded batch system, files and a network.
//
//	gossip ── who I am, where ──▶ agents, other servers
//
//	            ┌─ Estimate, Submit, Move, ... ─▶ calls ┐
//	RPC faces ──┤                                       ▼
//	   ▲        └─ Upload ─▶ blobs             ┌──────────────────┐
//	   │                       │               │ event loop: site │──▶ store, one
//	   │      hard links       ▼               └──────────────────┘    synced commit
//	   │                  jobs/ID/in                 │                 a turn, then:
//	   │                       │                     ▼
//	   │                       │        replies, commands, claims, messages
//	   │                       ▼                     │
//	   └─ ReadLogs, ◀──── jobs/ID/work ◀──── supervisor ◀── batch/exec
//	      Download             ID/stdout     processes
//
// One goroutine, the loop, touches the core. Everybody else sends it closures:
// the calls of clients and of other servers, the watcher of the batch system. It
// works in turns; see [Server] and docs/architecture.md ("What is on disk before
// anybody hears of it"). What takes long (reading files, hashing, sending, claims)
// is done outside of it.
//
// # Drafts
//
// A round of reallocation works on copies of the plan, each with a lease and one
// call at a time. The loop is needed to make one; edits and questions are worked on
// by the goroutine of their call.
//
// # Jobs after others
//
// A job may wait for some of other sites. Whoever may have them is asked at its
// submission; then a lookout for each of them listens to the server that has it, and
// asks anew where it is when that falls silent or the job goes on.
//
// # Restarts
//
// A server that starts reads its store, asks the supervisor what became of every
// attempt that may have been launched, lets the batch system adopt what runs, and
// has the rest wait again. Whoever embeds a server in a program of his own gives
// it a Config.Supervisor, because by default the program itself is started again
// as "supervise" and "gate".
//
// # Trust
//
// A job runs as the user of the server. Its input files are hard links to the
// stored content without permission to write, which a program of the same user
// can give itself: services are trusted, clients are not.
package server
