package pack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

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
