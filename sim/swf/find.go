package swf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TracesEnv names the environment variable that holds the directory of
// workloads.
const TracesEnv = "DROVER_TRACES"

// TraceNotFoundError says where [FindTrace] looked. It is an [fs.ErrNotExist].
type TraceNotFoundError struct {
	Name   string
	Looked []string // the files that are not there
}

// Error ends with where to get the files.
func (e *TraceNotFoundError) Error() string {
	return fmt.Sprintf("swf: no trace %s: looked for %s; real logs come from the Parallel Workloads Archive, "+
		"https://www.cs.huji.ac.il/labs/parallel/workload/logs.html: put them in a directory and name it in %s",
		e.Name, strings.Join(e.Looked, ", "), TracesEnv)
}

// Is makes errors.Is(err, fs.ErrNotExist) true.
func (e *TraceNotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// FindTrace returns the path of a workload by its file name, such as
// "KTH-SP2-1996-2.swf.gz". It looks in the directory that DROVER_TRACES names,
// then in ../shared/traces beside the working directory and beside each of its
// parents up to the one with a go.mod. The error is a [*TraceNotFoundError]
// when it is in none of them.
func FindTrace(name string) (path string, err error) {
	if name == "." || name == ".." || filepath.Base(name) != name {
		return "", fmt.Errorf("swf: find workload %q: accepted: a file name without a directory", name)
	}
	dirs, err := traceDirs()
	if err != nil {
		return "", fmt.Errorf("swf: find workload %s: %w", name, err)
	}
	missing := &TraceNotFoundError{Name: name}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("swf: find workload: %w", err)
		}
		missing.Looked = append(missing.Looked, path)
	}
	return "", missing
}

func traceDirs() ([]string, error) {
	var dirs []string
	if dir := os.Getenv(TracesEnv); dir != "" {
		dirs = append(dirs, dir)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	for {
		parent := filepath.Dir(dir)
		dirs = append(dirs, filepath.Join(parent, "shared", "traces"))
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || parent == filepath.Dir(parent) {
			return dirs, nil
		}
		dir = parent
	}
}
