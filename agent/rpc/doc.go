// Package rpc translates between the agent and the wire. It is the only package of
// the agent that imports drover.v1, and it decides nothing.
//
//	client ──▶ Serve: AgentService ──▶ Agent (package agent) ──▶ Peer ──▶ a site's server
//	               messages                 Go types                messages
//
// Most messages pass through the agent: a job that a server lists is sent to the
// client as it is. Such a message travels as a value that keeps it (Request, Job,
// Status, Data, Move, Reservation, ...) with methods that return the few fields
// that the agent looks at.
//
// A call of a Peer that brings no result returns a *Failure, which says whether the
// server refused, was late or could not be reached.
package rpc
