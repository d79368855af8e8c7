package main

import (
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/client"
)

// Servers choose the names of outputs, so a name must not lead out of the directory.
func TestOutputNamesCannotLeaveTheDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", ".", "..", "../x", "/x", "a/b", "a/../../x"} {
		for _, c := range []getCmd{{Dir: dir}, {Path: dir}, {}} {
			if path, err := c.pathOf(client.Output{Argument: name}, movingJob, true); err == nil {
				t.Errorf("%q goes to %s", name, path)
			}
		}
	}
	for want, c := range map[string]getCmd{
		filepath.Join(dir, "x.npy"): {Dir: dir}, "x.npy": {}, "there": {Path: "there"},
	} {
		if path, err := c.pathOf(client.Output{Argument: "x", Element: "float64"}, movingJob, true); err != nil ||
			path != want {
			t.Errorf("%s, %v, want %s", path, err, want)
		}
	}
	many := getCmd{Dir: dir}
	if path, err := many.pathOf(client.Output{Argument: "x"}, movingJob, false); err != nil ||
		path != filepath.Join(dir, movingJob, "x") {
		t.Errorf("of many: %s, %v", path, err)
	}
}
