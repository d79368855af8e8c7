// Package agent is the driver of an agent: it gives the cores (mapping, rounds) time,
// news and a network. Package agent/rpc translates between it and the wire.
//
//	gossip ── members ──▶ follow ── Describe ──▶ servers
//	                        │ view
//	                        ▼
//	client ── Map ──▶ choose ── Estimate, all sites at once ──▶ servers
//	client ◀─ targets, decision ◀─ mapping.Choose ◀── answers ──┘
//
// The agent keeps soft state only. It can be killed and restarted at any time:
// gossip finds the servers again, and they know the rest. So any number of agents can
// run beside each other.
//
// Each server streams what becomes of its jobs (WatchJobs) and is polled for its
// queue. So the agent knows which sites drain, and moves their waiting jobs away. Other
// agents may do the same: a server refuses the second order for a job. If a site does
// not answer, the agent still knows its jobs and lists them as unknown.
//
//	servers ── WatchJobs, GetStatus ──▶ attend ── digests ──▶ mapping.Jobs ──▶ lists, FindJob
//	servers ◀──── MoveJob ──── evict ◀── drainSites ◀── mapping.Drain ◀──┘
//
// Periodically, and on request, the agent runs a round of reallocation: it lists the
// waiting jobs, computes on drafts of the sites' plans which ones should move, and
// orders the moves.
//
//	servers ── ListJobs ──▶ listWaiting ──▶ rounds.Compute ──▶ orderRound ── MoveJob ──▶ servers
//	servers ◀───────────── Draft ──────────── drafts ◀─┘  │      or HoldJobs, PlaceJobs
//	client  ◀─────────────────── rpc.Round ◀──────────────┘
//
// A site that does not answer within the agent's patience is left out of the choice
// and named in the decision record. A site that gossip has lost is not asked for
// estimates, but stays in the lists, because the state of its jobs is unknown.
//
// To read it: agent.go (the process), sites.go (which servers there are), ask.go (call
// all sites at once), choose.go (the site of a request) with refusals.go, data.go,
// jobs.go, move.go (moves and drains), moves.go (the list of moves), reserve.go,
// operate.go, reallocate.go with drafts.go and orders.go.
package agent
