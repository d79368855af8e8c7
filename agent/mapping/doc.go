// Package mapping is the agent's core: what the agent knows about sites, and which site a
// request is mapped to. It has no clock, no I/O and no goroutine. The agent and the
// simulator drive the same code.
//
// A request goes to the site that would complete it first (MCT, minimum completion time:
// Maheswaran et al. 1999; Caniou et al. 2010, step 5 of the submission in figure 1). A job
// starts when its site has free processors, but not before its input has arrived:
//
//	decision      transfer ends        start                 completion
//	   │────── transfer ──▶│             │                        │
//	   │──────────── wait ──────────────▶│───────── run ─────────▶│
//
// so completion = max(transfer, wait) + run. The driver asks each site for a start after
// the end of the transfer. The max corrects a site that ignores this.
//
// The steps of a choice are: Candidates of the service, Transfer to each, the sites'
// answers (from the driver), Choose. The Decision has every candidate, including the
// missing ones, and is the record that the job keeps.
//
// The core also remembers jobs (Jobs), so that the jobs of a site that stops answering are
// unknown and not lost. It decides where a job is if several sites claim it (Locate): the
// claim with the highest epoch wins, and within one epoch the order of the steps of a move
// decides. It merges what both sites of each move report (MergeMoves), and decides which
// jobs of a draining site leave now (Drain).
//
//	sites ── digests ──▶ Jobs ──┬── claims of silent sites ──▶ Locate ──▶ where a job is
//	                            └── waiting, moving jobs ───▶ Drain ───▶ jobs to move
package mapping
