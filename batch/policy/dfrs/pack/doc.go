// Package pack assigns the tasks of jobs to equal nodes: the mapping half of dynamic fractional
// resource scheduling. It knows requirements, but not time.
//
// MCB8 (multi-capacity bin packing) turns the question "what is the highest yield at which all
// jobs can run?" into a search over questions "do all jobs fit at this yield?". A task takes
// the product of yield and CPU need, and all of its memory. Tasks are then rectangles of two
// fractions of a node. The packing keeps the use of CPU and memory balanced:
//
//	CPU list      tasks that need more CPU than memory, largest CPU first
//	memory list   all other tasks, largest memory first
//
//	node 0        ┌────────────┬────┐
//	        CPU   │ a          │ c  │     a: from the CPU list, as CPU and memory are
//	              ├────┬───────┴──┬─┘        balanced on an empty node
//	     memory   │ a  │ b        │c│     b: more memory than CPU is free, so from the
//	              └────┴──────────┴─┘        memory list; c: the reverse
//
// On each node it takes the first task that fits from the list that reduces the imbalance, else
// the first task that fits from the other list; if none fits, it fills the next node. A job is
// placed completely or not at all.
//
// The paper leaves some choices open. This package fixes them:
//
//   - An empty or balanced node takes from the CPU list. (The paper picks the first list
//     arbitrarily.)
//   - Lists are ordered by the exact product of need and yield. A task takes that product
//     rounded down to a unit, and at least one unit. Ties are broken by earlier submission, then
//     by lower group. The groups of a job with unequal tasks have separate positions in the lists.
//   - The search tries yield 1, which often succeeds, then 0.01, then bisects between the
//     largest yield that fitted and the smallest that did not until they are at most 0.01
//     apart. If the jobs do not fit at 0.01, it drops the job of lowest priority until they do,
//     and then starts the search.
//   - MCB8-stretch searches the inverse of the stretch in the same way. Its least value is 0,
//     at which each job needs only the smallest share: at any other value a job that has waited
//     for a long time can need more than a processor, and all jobs would be dropped.
//
// Pinned tasks stay on their nodes and take their shares first. The same holds for memory that
// is taken without a job, independent of dropped jobs.
//
// Match goes beyond the paper: it renames the nodes of a finished packing so that fewer running
// tasks move for the same packing.
//
// The result equals that of the simple algorithm, task by task. The code is fast because it
// batches repeated steps: equal neighbors in a list form one run of tasks; a node that would be
// filled like the previous one is only counted, as long as no run ends; a run that did not fit
// on a node is not checked there again; and runs that cannot fit are skipped in one step. A
// grown Packer does not allocate.
//
// Source: Casanova, Stillwell, Vivien: Dynamic Fractional Resource Scheduling vs.
// Batch Scheduling, INRIA research report 7659, 2011, sections 4.3 and 4.7, after a
// packing by Leinberger, Karypis and Kumar.
package pack
