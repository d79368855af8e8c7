// Package rpc is what the RPC faces of agent and server share: one port
// with everything on it, one way to tell a caller what was wrong, and one of
// paging, of calling others and of writing times.
//
//	                  ┌─ the service itself ──▶ agent, server
//	one port ── mux ──┼─ health
//	(HTTP/1.1, h2c)   └─ reflection, v1 and v1alpha
//
//	Problem ── Code(Reason), DetailOf ──▶ Connect error with its ErrorDetail
//
// What the errors of their own mean, agent and server know themselves: they
// turn them into Problems.
package rpc
