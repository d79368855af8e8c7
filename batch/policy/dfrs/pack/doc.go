// Package pack puts the tasks of jobs onto equal nodes: the mapping half of
// dynamic fractional resource scheduling. It knows requirements, not time.
//
// MCB8 (multi-capacity bin packing) makes the question "how fast can all of them
// run?" a search over questions "do they fit if each runs at this yield?". A yield
// times a task's need is the CPU it takes; its memory it takes anyway. Tasks then
// are rectangles of two fractions of a node, and are packed so that the two stay
// in balance:
//
//	CPU list      those that want more CPU than memory, largest CPU first
//	memory list   the others, largest memory first
//
//	node 0        ┌────────────┬────┐
//	        CPU   │ a          │ c  │     a: from the CPU list, as CPU and memory are
//	              ├────┬───────┴──┬─┘        balanced on an empty node
//	     memory   │ a  │ b        │c│     b: memory is free in excess, so from the
//	              └────┴──────────┴─┘        memory list; c: CPU is, so from the other
//
// On each node the first one that fits of the list that goes against the imbalance
// is taken, else the first one that fits of the other list; if there is none, the
// next node is filled. A job is placed whole or not at all.
//
// What the paper leaves open is fixed like this:
//
//   - An empty or balanced node takes from the CPU list. (The paper picks the first
//     list arbitrarily.)
//   - Lists are ordered by the exact product of need and yield. What a task takes is
//     that product rounded down to a unit, and at least one unit. Ties go to the job
//     that was submitted earlier, then to the group that comes first. A job with
//     unequal groups of tasks has each in its own place in the lists.
//   - The yields tried are 1, which is often enough, then 0.01, then halves of what
//     is left between the best that fitted and the least that did not, until that is
//     no more than 0.01 wide. Jobs that do not fit at 0.01 lose the one of lowest
//     priority, until they do; then the search begins.
//   - MCB8-stretch searches the inverse of the stretch in the same way, but its least
//     value is 0, which asks no more of anybody than the smallest share: at any other
//     a job that has waited for long may need more than a processor, and would have
//     everybody dropped.
//
// What is pinned stays where it is and takes its share of its nodes first. Memory that
// is taken without a job is so, too, whoever is dropped.
//
// Match is not the paper's: it gives the nodes of a finished packing other names, so
// that fewer of the tasks that run have to move for the very same packing.
//
// The result is that of the plain algorithm, place by place. It is fast because
// nothing is done one by one that repeats: equal neighbours in a list are one run
// of tasks; a node that is filled like the one before, as long as no run ends, is
// counted and not filled; on one node a run that did not fit is not looked at again;
// and runs that cannot fit are passed by in one step. Nothing is allocated once a
// Packer has grown.
//
// Source: Casanova, Stillwell, Vivien: Dynamic Fractional Resource Scheduling vs.
// Batch Scheduling, INRIA research report 7659, 2011, sections 4.3 and 4.7, after a
// packing by Leinberger, Karypis and Kumar.
package pack
