// Package matching assigns jobs to machines: the last phase of convergent scheduling. Rows are
// jobs and columns are machines. An entry rates a job on a machine; 0 means that it must not
// run there. Each machine takes one job.
//
//	         machine 0   1   2
//	job 0          9    [8]  ·         8 + 7 + 3 = 18, without job 3. To choose the 9 first
//	job 1         [7]    2   ·         leaves 2 + 3
//	job 2          ·     ·  [3]
//	job 3          2     ·   3
//
// # Algorithms
//
//   - MIS takes the largest remaining entry, again and again. It may leave machines free that
//     could have had a job.
//   - MFS finds the plan with the most associations and, among those, the largest sum. It is
//     exact and starts from scratch.
//   - IMFS starts from the last plan. Its associations stay unless a longest path from an
//     unmatched job changes them; paths to free machines come first. It finds as many
//     associations as MFS, with a sum close to the best.
//   - Renew also starts from the last plan, and is exact. The paper does not have it.
//
// All four keep a job on its machine if its entry there is so large that no other plan is as
// good. To keep a job there in any case, leave it out together with its machine: give its row
// no cells, and the machine 0 in all rows.
//
// # Terms
//
//   - plan: the row on each machine
//   - path: a job moves to a machine, the job of that machine to the next, and so on. A path is
//     odd if it ends at a free machine, and even if the last job becomes unmatched
//   - price: a machine's price deters jobs that gain more elsewhere. Prices are exact if each
//     matched job has the machine where its entry exceeds the price most, no unmatched job can
//     pay for a machine, and free machines cost nothing: then no plan is better
//   - gain: the excess of a job's entry over the price
//   - bonus: the worth of each association beside its entry. It exceeds all entries of a plan
//     together, so that the number of associations comes first
//
// # Complexity
//
// The paper's MFS recomputes longest paths over all nodes for each association, which is O(N⁴)
// for N jobs and machines; its IMFS takes O(N³) per pass. With prices no step of a path has
// positive worth. The longest path is therefore found by visiting the nearest machine first, in
// O(M²) for M machines, and the search ends as soon as the path is known. Jobs come by falling
// largest entry, so that one comparison skips all jobs that cannot pay the lowest price. For N
// jobs and M machines:
//
//	MIS    O(NM + E log N)   E: number of times a job finds its machine taken, at most NM
//	MFS    O(NM + N log N + KM²)   K: number of bidding jobs, at least M, rarely many more
//	IMFS, Renew   O(NM + N log N + CM²)   C: number of jobs and machines with a change
//
// NM is the cost of reading the entries once. C is 1 or 2 after an event, unless many entries
// change relative to each other.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for Large
// Computing Farms, SC07, section 5; prices follow the assignment algorithms of Kuhn, Bertsekas,
// and Jonker and Volgenant.
package matching
