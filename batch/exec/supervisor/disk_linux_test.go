package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

// smallDisk mounts one on a directory.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("drover-test", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no tmpfs here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func fill(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
}

func TestOnAFullDiskNothingRunsAndEndsAreKept(t *testing.T) {
	dir := t.TempDir()
	disk := attempts(dir)
	smallDisk(t, disk)
	hold := fifo(t, dir, "hold")
	c := connectTo(t, dir)
	k := key("job", 1)
	p := launch(t, c, spec(dir, k, `read x < "$1"; exit 3`, hold))
	// The next line of its file needs a page more.
	file := filepath.Join(disk, "1-1")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line, run, _ := strings.Cut(string(text), "\n")
	line = line[:len(line)-1] + strings.Repeat(" ", 4096-len(text)) + "}\n" + run
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(disk, "ballast"))

	_, err = c.Spawn(t.Context(), spec(dir, key("job", 2), "exit 0"), disk)
	if !errors.Is(err, exec.ErrNeverRan) || !strings.Contains(err.Error(), "claim: no space left on device") {
		t.Errorf("launch: %v", err)
	}
	if err := os.WriteFile(hold, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Code: 3}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if st, _, err := c.Attach(t.Context(), k, disk); st.Condition != attempt.Exited || st.Code != 3 || err != nil {
		t.Errorf("attach: %+v, %v", st, err)
	}
	if s, err := journal.Read(disk, "1-1"); s.End.Kind != 0 || err != nil {
		t.Errorf("the disk was not full: this shows nothing: %+v, %v", s, err)
	}
	if err := os.Remove(filepath.Join(disk, "ballast")); err != nil {
		t.Fatal(err)
	}
	state(t, dir, func(s journal.State) bool { return s.End.Kind == journal.Exited && s.End.Code == 3 })
	if e := launch(t, c, spec(dir, key("job", 3), "exit 0")).Wait(); e != (exec.Exit{}) {
		t.Errorf("with room again: %+v", e)
	}
}

func TestTheLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	l, err := openLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.file.Close() })
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 3 * largestLog / len(line) {
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{logName, logName + ".1"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() > largestLog || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 || err != nil {
		t.Errorf("%v, %v", left, err)
	}
}
