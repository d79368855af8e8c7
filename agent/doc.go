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
// A site that does not answer within the agent's patience is left out of the
// choice and named in the decision record. A site that gossip has lost is not
// asked for estimates, but stays in the lists: nobody knows what its jobs do.
package agent
