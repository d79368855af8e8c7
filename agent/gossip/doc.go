// Package gossip tells agents and servers of each other. It is a thin wrapper of
// hashicorp/memberlist, which spreads membership and detects failures as in the
// SWIM protocol (Das, Gupta and Motivala, DSN 2002).
//
//	 agent ◀───▶ server lyon        every member knows every other one by
//	   ▲  ╲         ▲               role and name, with the URL of its RPC
//	   │   ╲        │               face, its API version and capabilities
//	   ▼    ╲       ▼
//	server ◀──▶ server toulouse
//	 nancy
//
// A reader learns that something changed, never what: it takes Changed as a
// hint and compares Members with what it knew. So nothing queues up behind a
// slow reader, and memberlist's own goroutines never wait for one.
//
// A member that left said so and is forgotten. One that stopped answering is
// lost: it stays in the list, because its jobs may still run.
//
// A member that is started anew knows nobody, and its seeds may all be dead. So
// those that knew it look for it: they ask the last address of whoever is lost,
// and each answer to a probe tells the life of who answers, so that one that was
// back before anybody missed it is seen too.
package gossip
