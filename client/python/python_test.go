// Package python has the tests of the Python client among those of Go: they build
// drover, and let Python's unittest start grids of it.
package python

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	// What the tests run is built from these: when they change, an earlier result of
	// `go test` is none.
	_ "github.com/seed-9b8f70bb/drover/agent"
	_ "github.com/seed-9b8f70bb/drover/server"
)

func TestThePythonClient(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 in PATH: the Python client is NOT tested here (apt-get install python3)")
	}
	drover := filepath.Join(t.TempDir(), "drover")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", drover, "../../cmd/drover")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build drover: %v\n%s", err, out)
	}
	// The same for what Python reads: the go command notes which directories were read.
	for _, dir := range []string{"drover", "tests", "../submission"} {
		if err := filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			t.Fatal(err)
		}
	}
	for _, module := range []string{"submission", "wrong", "lost", "client", "files", "arrays", "data"} {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			// Warnings are about what is left open.
			cmd := exec.CommandContext(t.Context(), python, "-W", "error", "-m", "unittest", "-v", "tests.test_"+module)
			cmd.Env = append(os.Environ(), "DROVER="+drover, "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=.")
			// The processes of its grids are in its group: none outlives this test.
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("unittest: %v\n%s", err, out)
			}
			if !strings.Contains(string(out), "\nOK\n") {
				t.Errorf("tests were skipped:\n%s", out)
			}
		})
	}
}
