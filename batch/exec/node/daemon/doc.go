// Package daemon serves a node.Host to the server of one site: `drover node`.
//
//	server ── RenewNode, six times in a lease ──────▶ daemon ──▶ supervisor, which
//	       ── LaunchTask, SetShares … ──────────────▶            kills when it ends
//	       ◀───────────── WatchNode: ends, use ──────
//
// The daemon decides nothing. It serves the first server that claims it, by the name
// of its site and the ID of its data directory, writes that down (DIR/owner.json), and
// refuses all others. Nobody is authenticated yet, so it listens beyond loopback only
// where the configuration says that this is insecure.
//
// Tasks outlive the daemon, on their lease: one that is started again before that has
// ended takes them over. They do not outlive their supervisor.
package daemon
