// Package server is the driver of one site: it gives the core in package site
// time, a disk, a batch system, files and a network.
//
//	gossip ── name and address of the site ──▶ agents, other servers
//
//	               ┌─ Estimate, Submit, Move, ... ─▶ calls ┐
//	server/rpc  ───┤                                       ▼
//	   ▲           └─ uploads ─▶ blobs            ┌──────────────────┐
//	   │                          │               │ event loop: site │──▶ store, one
//	   │          hard links      ▼               └──────────────────┘    synced commit
//	   │                     jobs/ID/in                 │                 a turn, then:
//	   │                          │                     ▼
//	   │                          │        replies, commands, claims, messages
//	   │                          ▼                     │
//	   └─ logs, outputs ◀─── jobs/ID/work ◀──── supervisor ◀── batch/exec
//	      (server/files)     ID/stdout          processes
//
// One goroutine, the loop, owns the core. All others send it closures: the calls of
// clients and of other servers, and the watcher of the batch system. It works in
// turns; see [Server], package server/loop and docs/architecture.md. Slow work (reading
// files, hashing, sending, claims) happens outside of the loop.
//
// To read it: server.go, open.go, boot.go and recover.go (start), loop.go and commit.go (a turn),
// submit.go, jobs.go, launch.go and events.go (a job's life), handover.go (moves), dependencies.go,
// reserve.go, drafts.go; handles.go, content.go, copies.go and outputs.go (data); runner*.go and
// measure.go (execution); external*.go (batch systems such as Slurm); retention.go, disk.go and
// status.go.
//
// # Drafts
//
// A reallocation round works on drafts, which are copies of the plan. Each draft has a lease and
// serves one call at a time. Only the creation of a draft needs the loop; the goroutine of a call
// edits the draft and answers questions about it.
//
// # Dependencies
//
// A job can depend on jobs at other sites. The server looks them up when the job is
// submitted. Then it watches each of them at the server that has it, and looks it up
// again when that server stops answering or the job moves.
//
// # Restarts
//
// A server that starts reads its store, asks the supervisor about every attempt that
// could have been launched, lets the batch system adopt the attempts that run, and
// queues the other jobs again. A program that embeds a server sets Config.Supervisor,
// because the default supervisor is the program itself, started as "supervise" and
// "gate".
//
// # Trust
//
// A job runs as the server's user. Its input files are hard links to the stored content
// without write permission, which a program of the same user can grant itself: services
// are trusted, clients are not.
package server
