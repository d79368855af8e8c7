package pack

import "github.com/seed-9b8f70bb/drover/batch"

// Machine is a number of equal nodes.
type Machine struct {
	Nodes  int32
	CPU    int64  // of each node, in units of batch.Share: processors × batch.One
	Memory int64  // of each node, in bytes; 0: not known, and not counted
	Down   []bool // nodes that take nothing; nil: all are up
}

// Group is a number of equal tasks of one job.
type Group struct {
	Tasks  int32
	CPU    batch.Share // need of each task, 1..batch.One
	Memory int64       // of each task, in bytes; 0 is not known and not counted
}

// Place is a number of tasks of one group on one node.
type Place struct{ Node, Group, Tasks int32 }

// Job is a job that wants to be placed.
type Job struct {
	Order  int64 // of submission: who was earlier comes first among equals
	Groups []Group
	// Pinned holds, by ascending node and then group, where all its tasks stay.
	// With nil it may go anywhere.
	Pinned []Place
	// Flow is the time since its submission, Virtual how much of its work it has
	// done, in time at full rate. Only Stretch asks.
	Flow, Virtual batch.Duration
}

// share is the CPU that a task with a need takes at a yield.
func share(need int64, yield batch.Share) int64 {
	return max(1, need*int64(yield)>>20)
}
