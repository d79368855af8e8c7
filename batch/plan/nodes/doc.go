// Package nodes picks the processors of a job for policies that only count them: the
// lowest-numbered free ones. The executor of live jobs and the simulator share it, so a
// replayed schedule shows the processors that a live site would have used.
//
//	node    0    1    2    3    4
//	free    0    2    0    1    2      Pick(3) books 2 of node 1 and 1 of node 3
//	whole  [ .   x    .    x    x ]    nodes with a whole processor, as a set
//	                                   with a fast search for the least member
//
// If nodes have memory, tasks that need some go to the lowest-numbered nodes that have
// processors and memory, if there are enough: see [Allocator.PickFor].
package nodes
