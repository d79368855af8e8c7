// Package nodetest lets a test binary act as the processes that tasks need, and runs
// daemons of nodes for tests.
//
//	test binary ──▶ itself, as "node" ──▶ itself, as "supervise" ──▶ itself, as "gate"
//	     └─ Daemon: start, stop                                          └─ program
//
// TestMain calls Main first. The package does not import package daemon, so that package
// node can use it: a test that needs daemons passes a role that runs one.
package nodetest
