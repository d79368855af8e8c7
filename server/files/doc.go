// Package files keeps the files of a server: the directory of each job (input,
// outputs, logs), and uploaded content and data under handles.
//
//	uploads ─▶ blobs: content by SHA-256 ◀── depot: which content stays, by handle
//	              │ hard links                  ▲ copies from other sites
//	              ▼                             │
//	           jobs/ID/in ─▶ jobs/ID/work ─▶ outputs
//
// The files of one server:
//
//	lock        locked while the server runs
//	drover.db   the server's state, see package store
//	content/    uploaded content, see package blobs
//	depot/      data under handles, see package depot
//	jobs/ID/    in/ARGUMENT/NAME, inout/ARGUMENT, work/ (where the job runs), stdout,
//	            stderr, attempts/ (see package journal), TYPE-E-A.log of an external batch
//	            system,
//	            checkpoint/ (for the job's own use), begun, cleared and copying
//	            (see inputs.go and outputs.go)
//	scripts/    batch scripts of services
//	notices/    notices of attempts that an external batch system started
//	cluster.json the last description of an external batch system
//	attempts/   like those of jobs, for policies that share processors; see package node
//	supervisor* files of the supervisor
package files
