package fractional

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/cmd/drover-lab/papers/rows"
)

func tasksOf(n int) []Task {
	var all []Task
	for i := range n {
		all = append(all, Task{Case: Case{Set: Unscaled, Trace: i + 1, Algorithm: EASY, Penalty: Penalty}})
	}
	return all
}

func mustOpen(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := OpenFolder(dir, Penalty, "", "v1")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustAdd(t *testing.T, f *Folder, tasks ...Task) {
	t.Helper()
	for _, task := range tasks {
		if err := f.Add(&Row{Case: task.Case, Jobs: 10 * task.Trace, Bound: 2, MaxStretch: 3}, 1); err != nil {
			t.Fatal(err)
		}
	}
}

func text(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, RowsName))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAFolderCutInTheMiddleOfARowContinues(t *testing.T) {
	tasks := tasksOf(3)
	whole := t.TempDir()
	f := mustOpen(t, whole)
	mustAdd(t, f, tasks[2], tasks[0], tasks[1])
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want := text(t, whole)
	for cut := range len(want) + 1 {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, RowsName), []byte(want[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		f := mustOpen(t, dir)
		missing := slices.DeleteFunc(slices.Clone(tasks), f.Has)
		if n := max(0, strings.Count(want[:cut], "\n")-1); len(missing) != 3-n {
			t.Errorf("cut at %d: %d missing, want %d", cut, len(missing), 3-n)
		}
		mustAdd(t, f, missing...)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got := text(t, dir); got != want {
			t.Fatalf("cut at %d (-want +got):\n%s", cut, cmp.Diff(want, got))
		}
	}
}

func TestAFolderHasTheBoundsOfItsRows(t *testing.T) {
	f := mustOpen(t, t.TempDir())
	defer f.Close()
	mustAdd(t, f, tasksOf(1)...)
	if b, ok := f.Bound(&Instance{Set: Unscaled, Trace: 1}); !ok || b != 2 {
		t.Errorf("bound %v, %t", b, ok)
	}
	if b, ok := f.Bound(&Instance{Set: Scaled, Trace: 1, Load: 1}); ok {
		t.Errorf("another instance's bound is %v", b)
	}
}

func TestAFolderWithOtherSettingsIsRefused(t *testing.T) {
	dir := t.TempDir()
	open := func(penalty batch.Duration, digest string) error {
		f, err := OpenFolder(dir, penalty, digest, "v1")
		if err == nil {
			err = f.Close()
		}
		return err
	}
	for _, digest := range []string{"", "a", "", "a"} { // "" is about nothing of the log
		if err := open(Penalty, digest); err != nil {
			t.Fatal(err)
		}
	}
	for want, err := range map[string]error{
		"penalty: 300 s in the folder, 60 s now":            open(60*batch.Second, "a"),
		"HPC2N-2002-2.2-cln.swf.gz: a in the folder, b now": open(Penalty, "b"),
	} {
		if _, ok := errors.AsType[*rows.MismatchError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAFolderWithADamagedAboutFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, rows.AboutName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenFolder(dir, Penalty, "", "v1")
	if _, ok := errors.AsType[*rows.MismatchError](err); !ok || !strings.Contains(err.Error(), rows.AboutName) {
		t.Errorf("%v", err)
	}
}

func TestAFolderKeepsTheVersionThatBeganIt(t *testing.T) {
	dir := t.TempDir()
	for _, by := range []string{"v1", "v2"} {
		f, err := OpenFolder(dir, Penalty, "", by)
		if err != nil {
			t.Fatal(err)
		}
		if f.BegunBy() != "v1" {
			t.Errorf("%s: begun by %s", by, f.BegunBy())
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFolderIsLockedByOneProcess(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir)
	if _, err := OpenFolder(dir, Penalty, "", "v1"); !errors.As(err, new(*rows.LockedError)) {
		t.Errorf("opened twice: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, dir).Close(); err != nil {
		t.Error(err)
	}
}

func TestADamagedRowIsRefusedAndTheFileUnchanged(t *testing.T) {
	dir := t.TempDir()
	f := mustOpen(t, dir)
	mustAdd(t, f, tasksOf(2)...)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	bad := bytes.Replace([]byte(text(t, dir)), []byte(",10,"), []byte(",ten,"), 1)
	if err := os.WriteFile(filepath.Join(dir, RowsName), bad, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenFolder(dir, Penalty, "", "v1")
	if p, ok := errors.AsType[*ParseError](err); !ok || p.Line != 2 || p.Column != "jobs" {
		t.Errorf("%v", err)
	}
	if text(t, dir) != string(bad) {
		t.Error("the file has changed")
	}
}
