// Package server is the driver of one site: it gives the core in package site
// time, an embedded batch system, files and a network.
//
//	gossip ── who I am, where ──▶ agents
//
//	            ┌─ Estimate, Submit, ... ─▶ closures ┐
//	RPC face ───┤                                    ▼
//	   ▲        └─ Upload ─▶ blobs          ┌──────────────────┐
//	   │                       │            │ event loop: site │
//	   │      hard links       ▼            └──────────────────┘
//	   │                  jobs/ID/in            │ commands  ▲ changes
//	   │                       │                ▼           │
//	   └─ ReadLogs, ◀──── jobs/ID/work ◀──── batch/exec ────┘
//	      Download             ID/stdout        processes
//
// One goroutine, the loop, touches the core. Everybody else sends it closures:
// the calls of clients, and the watcher of the batch system. What takes long
// (reading files, hashing, sending) is done outside of it.
//
// # What is not there yet
//
// Records of jobs are in memory: when the server stops, it forgets them, ends
// what runs and what waits is lost; when it starts, it clears the directories of
// jobs that an earlier life left behind. Uploaded content stays. A job that has
// ended is kept until Limits.Finished others have ended after it; then its record
// and its directory go, and the same submission again would be a new job.
//
// A job runs as the user of the server. Its input files are hard links to the
// stored content without permission to write, which a program of the same user
// can give itself: services are trusted, clients are not.
package server
