// Package profile keeps free capacity over future time: the data structure
// under every planner.
//
// A profile is a step function. It starts with the capacity that is free at its
// origin and changes at its steps; after the last one it stays as it is.
//
//	free
//	 8 ┤              ┌──────
//	 5 ┤      ┌───┐   │        steps: (t1,+3) (t2,-4) (t3,+7)
//	 2 ┤──────┘   │   │
//	 1 ┤          └───┘
//	   └──────┬───┬───┬──────▶ time
//	 origin   t1  t2  t3
//
// With few steps it is a sorted array of what is free from each step on. With
// many, only the changes are stored, in a B+tree ordered by time whose inner nodes
// keep, for each child, the sum of its changes and the lowest and highest sum of
// any beginning of them. So
//
//   - Reserve and Release change two steps: O(log n).
//   - Fit, the earliest start of one rectangle, jumps from dip to dip: a stretch
//     with too little free is left, and the end of one with enough is found, in
//     O(log n) each, however many steps lie between.
//   - Sweep, the earliest starts of all shapes of a moldable job, is one pass
//     over the steps that keeps the start of the current run of each level of
//     free capacity on a stack.
//   - Soonest, the shape of a moldable job that ends first, reads the steps up to
//     that end alone.
//
// Nodes lie in two slices and name each other by index, so that Clone is a copy
// of two blocks of memory and nothing is allocated once a profile has grown.
//
// Times and widths are not checked here; what comes in has been checked at the
// edge. A Profile is not safe for concurrent use, not even for searches.
package profile
