// Package problem declares what can go wrong, for every process.
//
// A Problem is an error that users see: a stable reason to branch on, the wrong
// field, what would have been accepted, a sentence, a hint, and whether the same
// call can succeed later. Servers and agents return it, the RPC layer sends it as an
// ErrorDetail (proto/rpc), and the Go client and the command line show it.
//
//	server/site ─┐                                       ┌─ client ── drover: exit code
//	agent       ─┼─ *Problem ── proto/rpc ── ErrorDetail ┤
//	server      ─┘      │                                └─ Python, curl
//	                    └─ Reason ── table in reason.go: its class
//
// The package has no dependencies, so that cores may use it.
package problem
