package pack

import "github.com/seed-9b8f70bb/drover/batch"

// Machine is a number of equal nodes.
type Machine struct {
	Nodes  int32  `json:"nodes"`
	CPU    int64  `json:"cpu"`            // of each node, in units of batch.Share: processors × batch.One
	Memory int64  `json:"memory"`         // of each node, in bytes; 0: not known, and not counted
	Down   []bool `json:"down,omitempty"` // nodes that take nothing; nil: all are up
	// Taken is the memory of each node that somebody has who is not among the jobs, or
	// who is, with groups without memory; nil: nobody has any.
	Taken []int64 `json:"taken,omitempty"`
}

// Group is a number of equal tasks of one job.
type Group struct {
	Tasks  int32       `json:"tasks"`
	CPU    batch.Share `json:"cpu"`    // need of each task, 1..batch.One
	Memory int64       `json:"memory"` // of each task, in bytes; 0 is not known and not counted
}

// Place is a number of tasks of one group on one node.
type Place struct {
	Node  int32 `json:"node"`
	Group int32 `json:"group"`
	Tasks int32 `json:"tasks"`
}

// Job is a job that wants to be placed.
type Job struct {
	Order  int64   `json:"order"` // of submission: who was earlier comes first among equals
	Groups []Group `json:"groups"`
	// Pinned holds, by ascending node and then group, where all its tasks stay.
	// Empty: it may go anywhere.
	Pinned []Place `json:"pinned,omitempty"`
	// Flow is the time since its submission, Virtual how much of its work it has
	// done, in time at full rate. Only Stretch asks.
	Flow    batch.Duration `json:"flow,omitempty"`
	Virtual batch.Duration `json:"virtual,omitempty"`
}

// share is the CPU that a task with a need takes at a yield.
func share(need int64, yield batch.Share) int64 {
	return max(1, need*int64(yield)>>20)
}
