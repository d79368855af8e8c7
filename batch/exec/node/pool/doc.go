// Package pool launches the programs of a site on several nodes, and follows them.
//
//	           ┌─ peer a1 ─ renewals, shares ─▶ Node     a member is one process of
//	exec ─▶ Pool ─ peer a2 ─ renewals, shares ─▶ Node     an attempt, on one node
//	           └─ …
//	       Process ─┬─ member, rank 0 ─ signals ─▶ exec.Process of a1
//	                └─ member, rank 1 ─ signals ─▶ exec.Process of a2
//
// An attempt is one Process for the batch system, of as many members as batch.Launch
// says. It has ended when all have. The first that fails ends the others, with SIGTERM
// and after the grace time with SIGKILL, and its exit is that of the attempt. Members
// that make place at a checkpoint (batch.CheckpointStatus) have not failed; the attempt
// has made place if any has and none has failed.
//
// Nothing that the batch system's loop calls waits for a node: signals wait in a queue
// of each member, and of shares the last ones for each node, to be sent together.
//
// # Nodes that do not answer
//
// What runs on a node does so on a lease, which the pool renews.
//
//	      renewed        not renewed                        renewed
//	up ───────────▶ up ─────────────▶ down ──────────────────────────────▶ up
//	                        │           └─ lease and margin over ─▶ its members are Lost,
//	                        ▼                                       and barred before it is up
//	                 told at once (Follow)
//
// A node that does not answer is unknown: nothing is launched there, but that its
// members have ended is said only when their lease there must be over, which is
// counted from the last renewal that the node has answered, or when the node has said
// what became of them. So nothing runs twice when a partition heals. What was given up
// is barred, and killed if it runs all the same, before the node is up again.
//
// # Ranks
//
// Several members write one behind the other into the same files. Each is told which
// one it is: DROVER_RANK of DROVER_RANKS. OMP_NUM_THREADS and GOMAXPROCS are the
// processors that it has on its node, where they were those of the whole job.
//
// # Recovery
//
// A server that starts again asks Recover about each attempt that may run: every
// member is barred, or attached to if that comes too late. Of a node that is out of
// reach the members are unknown, and settled when it answers or its lease is over.
package pool
