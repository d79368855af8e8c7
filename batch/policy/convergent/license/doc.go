// Package license says which jobs may have the licenses they ask for, where there are not
// enough for all: clustering and pre-matching of convergent scheduling.
//
//	license   copies   jobs that ask for it
//	cad          2     1 2 3             critical: three requests, two copies
//	fem          1       2 4             critical
//	sim          5           5 6         not critical: nobody has to be discarded
//
//	      1 ── cad ── 3
//	            │
//	            2                        one cluster: job 2 asks for both; without it
//	            │                        there would be two
//	      4 ── fem
//
// A cluster is a connected part of the hypergraph whose nodes are the critical licenses
// and whose arcs are the jobs. Each is a multidimensional 0-1 knapsack of its own: which
// jobs are worth most together, without more copies in use than there are? Those it
// leaves out are discarded until the next pass.
//
// # Words
//
//   - request, offer: the copies of a license that all jobs ask for, and those there are.
//     The paper's jobs ask for one copy of a license; one that asks for more counts as
//     often, as it takes as much of the offer away
//   - critical: a license with more request than offer
//   - value: what an item is worth, the mean of its job's positive entries in the matrix
//   - weight: the sum of an item's parts of the copies of each critical license, by which
//     Eilon makes one knapsack out of many
//   - unit cost: value over weight
//   - kept: a job that runs and cannot be preempted, and so has its copies whatever the
//     others get
//
// # Clusters
//
// Links between licenses are counted, so that a job that comes or goes changes only the
// clusters of its own licenses: they merge where a link or a critical license is new, and
// one that lost some is taken apart and put together anew. Nothing else is looked at.
//
// # The greedy, where the paper leaves it open
//
//   - It discards from the end of the order by unit cost until no license is critical.
//     (The paper orders jobs by falling unit cost, and discards.) Weights count critical
//     licenses only. They change when one ceases to be critical, and can only fall; so
//     the order is a heap in which a job's unit cost is computed anew when it comes up.
//   - Who asks for nothing critical any more has weight 0 and is not discarded.
//   - A part of the copies is that of the copies which are not kept, rounded down to
//     2^-32. Unit costs are compared by exact products of 128 bits; of equal ones the job
//     that was submitted later goes first.
//   - Those that could not run if they were alone are discarded before all others, and
//     make nothing critical.
//   - At the end discarded jobs are taken back, last one first, if they fit into what is
//     left.
//
// Greedy takes O(n log n) steps for n jobs with a few licenses each, times the number of
// licenses that cease to be critical at worst.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, sections 4.1 and 4.2; the branch and bound with Lagrange's
// bound is as in Martello and Toth, Knapsack Problems.
package license
