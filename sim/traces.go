package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-9b8f70bb/drover/sim/swf"
)

// TraceFile is a trace that a scenario names.
type TraceFile struct {
	Name string // in the scenario
	Path string // on disk
}

// TraceFiles finds the traces of a validated scenario, each once; file is the scenario's path.
// It reads no trace. The error can be a *swf.TraceNotFoundError.
func (s *Scenario) TraceFiles(file string) ([]TraceFile, error) {
	var all []TraceFile
	for i := range s.Sites {
		name := s.Sites[i].Trace
		if name == "" || slices.ContainsFunc(all, func(t TraceFile) bool { return t.Name == name }) {
			continue
		}
		path, err := findTrace(beside(file, name), name)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, fmt.Errorf("site %s: %w", s.Sites[i].Name, err)
		}
		all = append(all, TraceFile{name, path})
	}
	return all, nil
}

// beside returns a trace's path relative to a scenario's folder.
func beside(scenario, trace string) string {
	if filepath.IsAbs(trace) {
		return trace
	}
	return filepath.Join(filepath.Dir(scenario), trace)
}

// findTrace returns a path or, if there is no such file and the name has no folder, the path of
// the file with this name in the folder of traces.
func findTrace(path, name string) (string, error) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || filepath.Base(name) != name {
		return path, nil
	}
	found, err := swf.FindTrace(name)
	if missing, ok := errors.AsType[*swf.TraceNotFoundError](err); ok {
		missing.Looked = slices.Insert(missing.Looked, 0, path)
	}
	return found, err
}

// openTrace opens a trace that findTrace finds.
func openTrace(path, name string) (*swf.Trace, error) {
	found, err := findTrace(path, name)
	if err != nil {
		return nil, err
	}
	return swf.ReadFile(found)
}

// Names caches names for the numbers of users and executables in a trace. The zero Names is
// ready for use.
type Names struct{ of map[int32]string }

// Of returns the names of a job's user and executable; "" if the trace does not have them.
func (n *Names) Of(j *Job) (user, application string) { return n.name(j.User), n.name(j.App) }

func (n *Names) name(number int32) string {
	if number <= 0 {
		return ""
	}
	s, ok := n.of[number]
	if !ok {
		if n.of == nil {
			n.of = map[int32]string{}
		}
		s = strconv.Itoa(int(number))
		n.of[number] = s
	}
	return s
}
