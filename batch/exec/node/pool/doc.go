// Package pool launches the programs of a site on several nodes, and follows them.
//
//	exec ─▶ Pool ─┬ peer a1 ─ renewals, shares ─▶ Node     a member is one process of
//	              ├ peer a2 ─ renewals, shares ─▶ Node     an attempt, on one node
//	              └ …
//	        Attempt ─┬─ member, rank 0 ─ signals ─▶ task of a1
//	                 └─ member, rank 1 ─ signals ─▶ task of a2
//
// The batch system sees one Attempt, with as many members as batch.Launch says. It has
// ended when all members have. The first member that fails ends the others, with SIGTERM
// and after the grace time with SIGKILL, and its exit is that of the attempt. A member
// that stops at a checkpoint (batch.CheckpointStatus) has not failed; the attempt
// has stopped at its checkpoint if at least one member has and none has failed.
//
// The loop of the batch system never waits for a node: signals wait in a queue of each
// member. Each node keeps only the last shares, and receives them in one call.
//
// # Nodes that do not answer
//
// Tasks live on a lease of their node, which the pool renews.
//
//	      renewed        not renewed                        renewed
//	up ───────────▶ up ─────────────▶ down ──────────────────────────────▶ up
//	                        │           └─ lease and margin over ─▶ its members are Lost,
//	                        ▼                                       and barred before it is up
//	             reported at once (Follow)
//
// The state of a node that does not answer is unknown. Nothing is launched there. Its
// members are reported as ended only when the node has answered, or when their lease
// must be over, counted from the last renewal that the node answered. So nothing runs
// twice when a partition heals. Members that were given up are barred, and killed if
// they still run, before the node is up again.
//
// # Ranks
//
// Several members append to the same files. Each gets its rank: DROVER_RANK of
// DROVER_RANKS. OMP_NUM_THREADS and GOMAXPROCS are its processors on its node, where
// they were those of the whole job.
//
// # Recovery
//
// A restarted server calls Recover for each attempt that may run: every member is
// barred, or attached to if a supervisor already holds the claim. The members of a node
// that is out of reach are unknown, and settled when it answers or its lease is over.
package pool
