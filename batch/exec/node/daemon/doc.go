// Package daemon serves a node.Host to the server of one site: `drover node`.
//
//	server ── RenewNode, six times in a lease ──────▶ daemon ──▶ supervisor, which
//	       ── LaunchTask, SetShares … ──────────────▶            kills when it ends
//	       ◀───────────── WatchNode: ends, use ──────
//
// The daemon makes no scheduling decisions. It serves the first server that claims it,
// identified by the name of its site and the ID of its data directory, records it in
// DIR/owner.json, and refuses all others. There is no authentication yet, so it listens
// beyond loopback only if the configuration sets Insecure.
//
// Tasks outlive the daemon while their lease lasts: a daemon that restarts before its
// end adopts them. They do not outlive their supervisor.
package daemon
