package scenarios

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/seed-9b8f70bb/drover/sim"
)

//go:embed *.yaml
var files embed.FS

// order is that of the paper's figures; the made ones come last.
var order = []string{"pwa", "m1", "m2", "m3", "m4", "m5", "m6", "pwa640", "g5k1", "g5k2", "g5k3", "g5k4", "g5k5", "g5k6"}

// Names returns the names of all scenarios.
func Names() []string { return append([]string(nil), order...) }

// Text returns the file of the scenario of a name; false if there is none.
func Text(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + ".yaml")
	return text, err == nil
}

// UnknownError says that there is neither a file nor a scenario of that name. It is
// an fs.ErrNotExist.
type UnknownError struct{ Name string }

// Error lists the names there are.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("scenario %s: neither a file nor one that comes with Drover, accepted: a file, %s", e.Name, strings.Join(order, ", "))
}

// Is makes errors.Is(err, fs.ErrNotExist) true.
func (e *UnknownError) Is(target error) bool { return target == fs.ErrNotExist }

// Read returns the text of a scenario: of the file of that name or, if there is
// none, of the one that comes with Drover. The error may be an *UnknownError.
func Read(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err == nil {
		return text, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	if text, ok := Text(name); ok {
		return text, nil
	}
	return nil, &UnknownError{Name: name}
}

// Load reads a scenario as Read does, and validates it. Its traces are looked for
// beside the name.
func Load(name string) (*sim.Scenario, error) {
	text, err := Read(name)
	if err != nil {
		return nil, err
	}
	return sim.ParseScenario(bytes.NewReader(text), name)
}
