// Package mapping is the agent's core: what it knows of the sites, and which one
// a request is mapped to. It has no clock, no I/O and no goroutine; the agent
// and the simulator drive the same code.
//
// A request goes to the site that would finish it first (MCT, minimum
// completion time: Maheswaran et al. 1999; Caniou et al. 2010, step 5 of the
// submission in figure 1). A job starts when its site has room for it, but not
// before its input is there:
//
//	decision      transfer ends        start                 completion
//	   │────── transfer ──▶│             │                        │
//	   │──────────── wait ──────────────▶│───────── run ─────────▶│
//
// so that completion = max(transfer, wait) + run. The driver asks each site for
// a start that is not before the end of the transfer; a site whose answer does
// not care is corrected by the max.
//
// One choice is: Candidates of the service, Transfer to each, the answers of
// all (the driver's business), Choose. The Decision keeps every candidate, the
// missing ones too, and is the record that goes with the job.
//
// Beside the choice the core keeps what an agent has heard of jobs (Jobs), so
// that those of a site that falls silent are unknown and not lost. It says where
// a job is when several sites claim it (Locate): the claim with the highest
// epoch wins, and within one epoch the order of the steps of a move. It makes one
// list of what both sites of each move tell (MergeMoves), and says which jobs of
// a draining site are to leave now (Drain).
//
//	sites ── digests ──▶ Jobs ──┬── claims of silent sites ──▶ Locate ──▶ where a job is
//	                            └── who waits, what moves ───▶ Drain ───▶ whom to move
package mapping
