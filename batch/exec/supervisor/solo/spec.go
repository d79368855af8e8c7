package solo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// version is that of Spec's format.
const version = 1

// maxSpec bounds the size of an encoded Spec, in bytes.
const maxSpec = 16 << 20

// Spec is the program of one attempt.
type Spec struct {
	V      int      `json:"v"`
	Args   []string `json:"args"` // Args[0] is looked up in the PATH of Env
	Env    []string `json:"env"`  // NAME=value
	Dir    string   `json:"dir"`  // working directory, created if needed
	Stdout string   `json:"stdout"`
	Stderr string   `json:"stderr"`
	System System   `json:"system"`
	// Notices is the path prefix of the files that this start leaves for the server: if
	// the attempt was started before, or was asked to stop. "": it leaves none.
	Notices string `json:"notices,omitempty"`
}

// System names the environment variables of the batch system that starts the attempt.
type System struct {
	Prefix string `json:"prefix,omitempty"` // the program inherits all with this prefix
	Nodes  string `json:"nodes,omitempty"`  // list of the attempt's nodes, for DROVER_NODES
	ID     string `json:"id,omitempty"`     // job ID, for notices
}

// Encode returns a spec as one line, without a newline.
func Encode(s Spec) ([]byte, error) {
	s.V = version
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode the spec of an attempt: %w", err)
	}
	return text, nil
}

// read returns the spec that input holds.
func read(input io.Reader) (Spec, error) {
	text, err := io.ReadAll(io.LimitReader(input, maxSpec+1))
	if err == nil && len(text) > maxSpec {
		err = fmt.Errorf("longer than %d bytes", maxSpec)
	}
	var s Spec
	if err == nil {
		s, err = parse(text)
	}
	if err != nil {
		return Spec{}, fmt.Errorf("spec of an attempt: %w", err)
	}
	return s, nil
}

func parse(text []byte) (Spec, error) {
	var s Spec
	if err := json.Unmarshal(text, &s); err != nil {
		return Spec{}, err
	}
	switch {
	case s.V != version:
		return Spec{}, fmt.Errorf("version %d, accepted: %d", s.V, version)
	case len(s.Args) == 0 || s.Args[0] == "":
		return Spec{}, errors.New("args: none")
	}
	return s, nil
}
