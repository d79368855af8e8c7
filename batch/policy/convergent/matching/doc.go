// Package matching says which job goes onto which machine: the last phase of convergent
// scheduling. Jobs are rows, machines columns, an entry is how well a job would be placed
// on a machine, 0 that it must not go there; each machine takes one job.
//
//	         machine 0   1   2
//	job 0          9    [8]  ·         8 + 7 + 3 = 18; job 3 stays out, and so would
//	job 1         [7]    2   ·         who takes 9 first: the rest is 2 + 3
//	job 2          ·     ·  [3]
//	job 3          2     ·   3
//
// # Four ways
//
//   - MIS takes the largest entry that is left, again and again. It may leave machines
//     without a job that could have had one.
//   - MFS finds the most associations and among such plans the largest sum, exactly, from
//     nothing.
//   - IMFS goes on from the last plan, whose associations stay unless a longest path from
//     a job that is nowhere changes them; paths to free machines come first. It is as
//     good as MFS in the number of associations, and close to it in their sum.
//   - Renew is not in the paper: it goes on from the last plan, too, and is exact.
//
// All four leave a job where it is if it has so many points there that no other plan is
// as good. A job that may not be moved at any price is best left out with its machine:
// its row has no cells, the machine's are 0 in all rows.
//
// # Words
//
//   - plan: the row on each machine
//   - path: a job goes to a machine, the job there to another one, and so on. It is odd if
//     it ends at a machine that nobody is on, and even if the last job has to go
//   - price: of a machine, what keeps those away that gain more elsewhere. At exact prices
//     each job has the machine where its entry exceeds the price most, nobody who is out
//     could pay, and who is nowhere or has nobody pays or costs nothing: then no plan is
//     better
//   - gain: what a job has beyond the price
//   - bonus: what each association is worth beside its entry, which is more than all
//     entries of a plan together, so that their number comes first
//
// # How long it takes
//
// The paper's MFS recomputes longest paths over all nodes for each association, which is
// O(N⁴) for N jobs and machines, and its IMFS O(N³) a pass. With prices no step of a path
// is worth more than nothing, so the longest path is found by going to the nearest
// machine first, in O(M²) for M machines, and it ends as soon as it is known. Jobs come by
// falling largest entry, so that all those are passed by at once who cannot pay the lowest
// price. For N jobs and M machines that is
//
//	MIS    O(NM + E log N)   E: how often a job finds its machine taken, at most NM
//	MFS    O(NM + N log N + KM²)   K: jobs that bid; at least M, seldom many more
//	IMFS, Renew   O(NM + N log N + CM²)   C: jobs and machines that something changed for
//
// of which NM is reading the entries once, and C is one or two after an event, if not many
// entries move against each other.
//
// Source: Capannini, Baraglia, Puppini, Ricci, Pasquali: A Job Scheduling Framework for
// Large Computing Farms, SC07, section 5; prices as in Kuhn's, Bertsekas's and Jonker and
// Volgenant's assignment algorithms.
package matching
