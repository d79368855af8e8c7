// Package remote uses a node of the site through its daemon (package
// batch/exec/node/daemon).
//
//	Renew ──────────▶ the lease; the token that comes back covers launches
//	Launch, Attach ─▶ Task ◀── watch: ends, use
//
// The caller renews the lease, and so controls when a silent node is given up: when
// Renew has returned and the caller stops renewing, all tasks of the node are over one
// lease later, and no launch that was ever sent takes effect afterwards (see package
// supervisor, Lease).
//
// A [Task] outlives the connection. While the node does not answer, its signals are
// stored. When the node answers again, every task is queried, and its pause and its
// share are sent again. Wait returns only when the node has reported the end.
// Signals and shares are numbered: one that the network delivers late has no effect.
package remote
