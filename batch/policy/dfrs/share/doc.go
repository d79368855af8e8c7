// Package share decides how much CPU each job gets, given the nodes of its tasks.
//
// A job's tasks all get the same fraction of their need: the job's yield, from 0 to One. A node
// cannot give more than its capacity. A Pool is therefore a table with a column for each job
// and a row for each node, and the yields must satisfy
//
//	          job 1      job 2      job 3
//	node 0  1.0 · y1 + 0.5 · y2            <=  1 less what is taken
//	node 1             0.5 · y2 + 1.0 · y3 <=  1      (load 1.5: overloaded)
//	node 2  1.0 · y1                       <=  1      (load 1: no constraint)
//
// where each factor is tasks × need. Only overloaded nodes constrain jobs. Jobs that are not
// linked by a chain of overloaded nodes do not depend on each other: they are in different
// components. When a job comes, leaves, moves or gets another weight, only its components are
// recomputed.
//
// Five goals select among the feasible yields:
//
//   - MaxMin (opt=min): maximizes the smallest yield, then the next smallest, and so on. All
//     yields rise together; when a node is full, the yields of its jobs stay and the others rise
//     further (progressive filling). Weights make yields rise faster or slower.
//   - Average (opt=avg): maximizes the sum of yields, with none below the Bound, 1/max(1, Λ),
//     where Λ is the largest load of a node. This is a linear program; it is solved for each
//     component with the simplex method in this package.
//   - MaxStretch (opt=max): like MaxMin, but for the inverse of the stretch that each job will
//     have a period from now.
//   - MeanStretch (opt=avg of /stretch-per): maximizes the sum of those inverses. This is our
//     reading: minimizing the mean stretch itself is not a linear program, and the paper says
//     "similar to" its own linear program.
//   - Equal (EquiPartition): each node gives its tasks equal parts, at most their need; a
//     job's yield is that of its task with the lowest yield.
//
// All quantities are integers: yields in units of 2^-20, the CPU of a node in 2^-20 of a
// processor, their products in 2^-40. Yields are rounded down, so that no node is
// overcommitted. The results depend only on the current tasks, not on the order of changes.
//
// Source: Casanova, Stillwell, Vivien, "Dynamic fractional resource scheduling
// vs. batch scheduling", sections 3.2, 4.6 and 4.7.
package share
