package scenarios

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/seed-9b8f70bb/drover/sim"
)

//go:embed *.yaml
var files embed.FS

// order is the order of the paper's figures, then the generated ones.
var order = []string{
	"pwa", "m1", "m2", "m3", "m4", "m5", "m6", "pwa640", "g5k1", "g5k2", "g5k3", "g5k4", "g5k5",
	"g5k6",
}

// Names returns the names of all scenarios.
func Names() []string { return append([]string(nil), order...) }

// Text returns the text of a scenario by name; false if there is none.
func Text(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + ".yaml")
	return text, err == nil
}

// UnknownError reports that no scenario and no file has the name. It is an fs.ErrNotExist.
type UnknownError struct{ Name string }

// Error lists the included scenarios.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("scenario %q: no such file, accepted: %s, or the path of a scenario file", e.Name,
		strings.Join(order, ", "))
}

// Is makes errors.Is(err, fs.ErrNotExist) true.
func (e *UnknownError) Is(target error) bool { return target == fs.ErrNotExist }

// Load reads and validates a scenario: an included one by name, else a file. A file in the
// working directory does not change the meaning of a name: a file named pwa is "./pwa". Traces
// are searched beside the file. The error can be an *UnknownError.
func Load(name string) (*sim.Scenario, error) {
	if text, ok := Text(name); ok {
		return sim.ParseScenario(bytes.NewReader(text), name)
	}
	s, err := sim.ReadScenario(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &UnknownError{Name: name}
	}
	return s, err
}
