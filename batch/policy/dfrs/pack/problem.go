package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-9b8f70bb/drover/batch"
)

// Machine is a number of equal nodes.
type Machine struct {
	Nodes  int32  `json:"nodes"`
	CPU    int64  `json:"cpu"`            // of each node, in units of batch.Share: processors × batch.One
	Memory int64  `json:"memory"`         // of each node, in bytes; 0 is unknown and not counted
	Down   []bool `json:"down,omitempty"` // nodes that take no tasks; nil: all are up
	// Taken is the memory of each node that is used outside the jobs' groups; nil: none.
	Taken []int64 `json:"taken,omitempty"`
}

// Group is a number of equal tasks of one job.
type Group struct {
	Tasks  int32       `json:"tasks"`
	CPU    batch.Share `json:"cpu"`    // need of each task, 1..batch.One
	Memory int64       `json:"memory"` // of each task, in bytes; 0 is unknown and not counted
}

// Placement is a number of tasks of one group on one node.
type Placement struct {
	Node  int32 `json:"node"`
	Group int32 `json:"group"`
	Tasks int32 `json:"tasks"`
}

// Job is a job to be placed.
type Job struct {
	Order  int64   `json:"order"` // submission order, which breaks ties
	Groups []Group `json:"groups"`
	// Pinned holds the nodes of all its tasks, by ascending node and then group. Empty: the job
	// can be placed anywhere.
	Pinned []Placement `json:"pinned,omitempty"`
	// Flow is the time since submission, Virtual the work done so far as time at full rate.
	// Only Stretch uses them.
	Flow    batch.Duration `json:"flow,omitempty"`
	Virtual batch.Duration `json:"virtual,omitempty"`
}

// share returns the CPU that a task with a need takes at a yield.
func share(need int64, yield batch.Share) int64 {
	return max(1, need*int64(yield)>>20)
}

// State is the input of a Packer, recorded so that benchmarks can pack the states of
// simulations.
type State struct {
	Machine Machine `json:"machine"`
	Jobs    []Job   `json:"jobs"`
}

// WriteState appends a state to a file of states as a line of JSON.
func WriteState(w io.Writer, m *Machine, jobs []Job) error {
	line, err := json.Marshal(State{*m, jobs})
	if err != nil {
		return fmt.Errorf("packing: writing a state: %w", err)
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("packing: writing a state: %w", err)
	}
	return nil
}

// ReadStates reads a file of states and validates them.
func ReadStates(r io.Reader) ([]State, error) {
	var states []State
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	for {
		var s State
		err := d.Decode(&s)
		if errors.Is(err, io.EOF) {
			return states, nil
		}
		if err == nil {
			err = Validate(&s.Machine, s.Jobs)
		}
		if err != nil {
			return nil, fmt.Errorf("packing: reading state %d: %w", len(states)+1, err)
		}
		states = append(states, s)
	}
}
