// Package agent is the agent's driver: it gives package mapping time, news and
// a network.
//
//	gossip ── who is there ──▶ follow ── Describe ──▶ servers
//	                             │ view
//	                             ▼
//	client ── Map ──▶ RPC face ─▶ candidates ── Estimate, all at once ──▶ servers
//	client ◀─ targets, decision ◀─ mapping.Choose ◀── answers, or silence ──┘
//
// The agent keeps soft state only. It may be killed and started empty at any
// time: gossip tells it of the servers again, and they know the rest. So any
// number of agents may run beside each other.
//
// Each server also tells what becomes of its jobs (WatchJobs), and is asked for
// its queue now and then. So the agent knows which sites drain, and has their
// waiting jobs moved away, beside any other agent that does the same: the
// server refuses the second order. And of a site that does not answer it still
// knows the jobs; it shows them as unknown since then.
//
//	servers ── WatchJobs, GetStatus ──▶ attend ── digests ──▶ mapping.Jobs ──▶ lists, FindJob
//	servers ◀──── MoveJob ──── evict ◀── drainSites ◀── mapping.Drain ◀──┘
//
// On a period, and when somebody asks for it, the agent makes a round of
// reallocation: it lists what waits, computes what should move on copies of the
// sites' plans, and orders that.
//
//	servers ── ListJobs ──▶ listWaiting ──▶ rounds.Compute ──▶ orderRound ── MoveJob ──▶ servers
//	servers ◀───────────── Draft ──────────── drafts ◀─┘  │      or HoldJobs, PlaceJobs
//	whoever asked ◀──────────────────── report ◀──────────┘
//
// A site that does not answer within the agent's patience is left out of the
// choice and named in the decision record. A site that gossip has lost is not
// asked for estimates, but stays in the lists: nobody knows what its jobs do.
package agent
