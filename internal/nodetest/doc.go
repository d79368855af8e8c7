// Package nodetest lets a test binary be the processes that tasks need, and runs
// daemons of nodes for tests.
//
//	test binary ──▶ itself, as "node" ──▶ itself, as "supervise" ──▶ itself, as "gate"
//	     └─ Daemon: start, stop                                          └─ program
//
// Who tests with them calls Main first in TestMain. It knows no daemon by itself, so that
// package node can use it: whoever has one says in a role how to make it.
package nodetest
