// Package license decides which jobs get their licenses when there are not enough for all:
// clustering and pre-matching of convergent scheduling.
//
//	license   copies   jobs that request it
//	cad          2     1 2 3             critical: three requests, two copies
//	fem          1       2 4             critical
//	sim          5           5 6         not critical: no job is discarded
//
//	      1 ── cad ── 3
//	            │
//	            2                        one cluster: job 2 requests both; without it
//	            │                        there would be two
//	      4 ── fem
//
// A cluster is a connected component of the hypergraph with the critical licenses as nodes
// and the jobs as arcs. Each cluster is a separate multidimensional 0-1 knapsack
// problem: find the jobs with the largest total value that fit into the copies. Jobs that it
// leaves out are discarded until the next pass.
//
// # Terms
//
//   - request, offer: the copies of a license that all jobs request, and those that exist. The
//     paper's jobs request one copy; here a job that requests several counts several times
//   - critical: a license with a request above its offer
//   - value: the worth of an item, the mean of its job's positive entries in the matrix
//   - weight: the sum, over the critical licenses of an item, of the fraction of copies that it
//     requests. Eilon reduces several knapsack constraints to one in this way
//   - unit cost: value over weight
//   - kept: a running job that cannot be preempted. It has its copies before others get any
//
// # Clusters
//
// Links between licenses are counted, so that adding or removing a job changes only the
// clusters of its own licenses: clusters merge at a new link or a new critical license, and a
// cluster that lost some is rebuilt.
//
// # Cases that the paper leaves open
//
//   - Greedy discards from the end of the order by unit cost until no license is critical. (The
//     paper orders jobs by falling unit cost, and discards.) Weights count critical licenses
//     only. A weight changes when a license ceases to be critical, and can only fall; the order
//     is therefore a heap that recomputes a job's unit cost when the job reaches the top.
//   - A job that no longer requests a critical license has weight 0 and is not discarded.
//   - Fractions refer to the copies that are not kept, rounded down to 2^-32. Unit costs are
//     compared by exact products of 128 bits; of equal ones the later submission is discarded
//     first.
//   - Jobs that cannot run even alone are discarded before all others, and make no license
//     critical.
//   - At the end discarded jobs are taken back, the last one first, if they fit into the
//     remaining copies.
//
// Greedy takes O(n log n) steps for n jobs with few licenses each, times the number of licenses
// that cease to be critical in the worst case.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for Large
// Computing Farms, SC07, sections 4.1 and 4.2; the branch and bound with Lagrangian bounds
// follows Martello and Toth, Knapsack Problems.
package license
