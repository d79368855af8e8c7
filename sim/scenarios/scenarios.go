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

// order is that of the paper's figures; the made ones come last.
var order = []string{
	"pwa", "m1", "m2", "m3", "m4", "m5", "m6", "pwa640", "g5k1", "g5k2", "g5k3", "g5k4", "g5k5",
	"g5k6",
}

// Names returns the names of all scenarios.
func Names() []string { return append([]string(nil), order...) }

// Text returns the file of the scenario of a name; false if there is none.
func Text(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + ".yaml")
	return text, err == nil
}

// UnknownError says that there is neither a scenario nor a file of that name. It is
// an fs.ErrNotExist.
type UnknownError struct{ Name string }

// Error lists the names there are.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("scenario %q: no such file, accepted: %s, or the path of a scenario file", e.Name,
		strings.Join(order, ", "))
}

// Is makes errors.Is(err, fs.ErrNotExist) true.
func (e *UnknownError) Is(target error) bool { return target == fs.ErrNotExist }

// Load reads a scenario and validates it: one that comes with Drover by its name,
// else a file. A file in the working directory does not change the meaning of a name: a
// file named pwa is "./pwa". Traces are looked for beside the name. The error can be an
// *UnknownError.
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
