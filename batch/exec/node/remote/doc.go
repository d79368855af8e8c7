// Package remote uses a node of the site through its daemon (package batch/exec/node/daemon).
//
//	Renew ──────────▶ the lease; the token that comes back covers launches
//	Launch, Attach ─▶ Process ◀── watch: ends, use
//
// The caller renews, and so decides what a silent node is: when Renew has returned, and
// none is sent any more, all tasks of the node are over one lease later, and no launch
// that was ever sent begins anything afterwards (see package supervisor, Lease).
//
// A [Task] outlives the connection. Its signals are kept while the node does not
// answer; when it does, it is asked about every process, and told again who is paused
// and what each may have. Wait returns only on the node's word.
// Signals and shares are numbered: one that the network delivers late undoes nothing.
package remote
