// Package rpc is what all processes share to call and to be called: limits,
// transports, errors, paging, and the wire form of durations.
//
//	          Caller ── rpc.Client ─────▶ ┌─ interceptors ─ services of the process
//	agent, server,    (limits, h2c)       │                 health, reflection
//	node, client ─                  Serve ┤
//	          Caller.Files ─────────────▶ └─ route ──────── paths for plain HTTP
//	                   (HTTP/1.1)
//
//	error ── Config.Problem ── Code(Reason), DetailOf ──▶ Connect error with its ErrorDetail
//
// This is where an interceptor is added: in Serve for every handler (agent, server,
// peer, node, supervisor), in Client for every caller. Serve also wraps the routes
// for plain HTTP, and NewCaller makes the client for files. A test in
// internal/layout finds handlers and clients that go past them.
//
// Each process knows what its own errors mean, and turns them into Problems
// (Config.Problem).
package rpc
