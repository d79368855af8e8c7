// Package gossip lets agents and servers find each other. It is a thin wrapper of
// hashicorp/memberlist, which spreads membership and detects failures with the SWIM
// protocol (Das, Gupta and Motivala, DSN 2002).
//
//	 agent ◀───▶ server lyon        every member knows every other one by
//	   ▲  ╲         ▲               role and name, with the URL of its RPC
//	   │   ╲        │               face, its API version and capabilities
//	   ▼    ╲       ▼
//	server ◀──▶ server toulouse
//	 nancy
//
// A reader learns that something changed, not what: after Changed it compares Members with
// what it knew. So nothing queues up behind a slow reader, and memberlist's goroutines
// never wait for one.
//
// A member that says goodbye is forgotten. A member that stops answering is lost: it stays
// in the list, because its jobs may still run.
//
// Members tell each other of lost servers, and keep them in a file, see roster: a member that
// starts while a server is down learns of it.
//
// A restarted member knows no other member, and its seeds may all be dead. So the others
// look for it: they try the last addresses of lost members. Each answer to a probe carries
// the sender's instance number, which also reveals a member that restarted before it was
// missed.
package gossip
