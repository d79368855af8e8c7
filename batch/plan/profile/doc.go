// Package profile keeps free capacity over future time. It is the data structure
// under every planner.
//
// A profile is a step function. It starts with the capacity that is free at its
// origin, changes at its steps, and is constant after the last one.
//
//	free
//	 8 ┤              ┌──────
//	 5 ┤      ┌───┐   │        steps: (t1,+3) (t2,-4) (t3,+7)
//	 2 ┤──────┘   │   │
//	 1 ┤          └───┘
//	   └──────┬───┬───┬──────▶ time
//	 origin   t1  t2  t3
//
// With few steps it is a sorted array of the free capacity from each step on. With
// many, a B+tree ordered by time stores the changes. Its inner nodes keep, for each
// child, the sum of its changes and the lowest and highest prefix sum. So
//
//   - Reserve and Release change two steps: O(log n).
//   - Fit, the earliest start of one rectangle, jumps from dip to dip. Finding the end
//     of an interval with too little capacity, and of one with enough, costs O(log n)
//     each, however many steps lie between.
//   - Sweep, the earliest starts of all shapes of a moldable job, is one pass
//     over the steps that keeps the start of the current run of each level of
//     free capacity on a stack.
//   - Soonest, the shape of a moldable job that ends first, reads only the steps up to
//     that end.
//
// Nodes lie in two slices and refer to each other by index, so Clone copies two blocks
// of memory and a grown profile allocates nothing.
//
// Callers pass valid times and widths. A Profile is not safe for concurrent use, not
// even for searches.
package profile
