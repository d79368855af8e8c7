// Package share decides how much CPU each job gets, once it is settled where its
// tasks are.
//
// A job's tasks all get the same fraction of what they need: its yield, from 0
// to One. A node cannot give more than it has. So a Pool is a table with a
// column for each job and a row for each node, and the yields must keep
//
//	          job 1      job 2      job 3
//	node 0  1.0 · y1 + 0.5 · y2            <=  1 less what is taken
//	node 1             0.5 · y2 + 1.0 · y3 <=  1      (load 1.5: overloaded)
//	node 2  1.0 · y1                       <=  1      (load 1: never in the way)
//
// in which a number is tasks × need. Only overloaded nodes are in the way of
// anybody, so jobs that share no overloaded node, nor are linked by a chain of
// such, do not depend on each other: they are in different components. What
// comes, goes, moves or is weighed anew has only its own components computed
// again.
//
// Among all yields that fit, one is chosen:
//
//   - MaxMin (opt=min): the smallest yield as large as can be, then the next
//     smallest, and so on. All yields rise together; when a node is full the jobs
//     on it stay where they are and the others rise on (progressive filling). A
//     weighted job rises faster or slower.
//   - Average (opt=avg): the largest sum of yields with none below the Bound,
//     1/max(1, Λ), where Λ is the largest load of any node. A linear program,
//     solved component by component with a simplex method of its own.
//   - MaxStretch (opt=max): like MaxMin, but what rises together is the inverse
//     of the stretch that each job will have a period from now.
//   - MeanStretch (opt=avg of /stretch-per): the largest sum of those inverses.
//     Our reading: to minimize the mean of the stretches themselves would be no
//     linear program, and the paper says "similar to" its own linear program.
//   - Equal (EquiPartition): each node by itself gives its tasks equal parts,
//     never more than they need; a job's yield is that of its worst-off task.
//
// Everything is counted in whole numbers: a yield in 2^-20, a node's CPU in
// 2^-20 of a processor, their products in 2^-40. Yields are rounded down, so
// that a node is never overdrawn. The results depend on who is where and on
// nothing else: not on the order in which that came about.
//
// Source: Casanova, Stillwell, Vivien, "Dynamic fractional resource scheduling
// vs. batch scheduling", sections 3.2, 4.6 and 4.7.
package share
