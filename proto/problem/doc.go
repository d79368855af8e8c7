// Package problem is what can go wrong, in one vocabulary for every process.
//
// A Problem is an error that a user is told in full: a stable reason to branch
// on, the field that is wrong, what would have been accepted, a sentence, a
// hint, and whether the same call may succeed later. The cores of server and
// agent return it, the RPC layer sends it as an ErrorDetail (proto/rpc), and the
// Go client and the command line show it.
//
//	server/site ─┐                                       ┌─ client ── drover: exit code
//	agent       ─┼─ *Problem ── proto/rpc ── ErrorDetail ┤
//	server      ─┘      │                                └─ Python, curl
//	                    └─ Reason ── table in reason.go: its class
//
// The package has no dependencies, so that cores may use it.
package problem
