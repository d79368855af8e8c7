package rows

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestATornLineIsRemoved(t *testing.T) {
	for name, c := range map[string]struct{ was, kept string }{
		"new": {"", ""}, "whole": {"a\nb\n", "a\nb\n"}, "torn": {"a\nb", "a\n"}, "nothing whole": {"a", ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		if c.was != "" {
			if err := os.WriteFile(path, []byte(c.was), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d := mustOpen(t, dir)
		var kept string
		l, err := d.Lines("f", func(text []byte) error { kept = string(text); return nil })
		if err != nil || kept != c.kept {
			t.Fatalf("%s: %q, %v", name, kept, err)
		}
		if err := errors.Join(l.Add([]byte("c\n")), d.Close()); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != c.kept+"c\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

func TestRefusedLinesStayInTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("a\nb"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, dir)
	bad := errors.New("bad")
	if _, err := d.Lines("f", func([]byte) error { return bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "a\nb" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAFolderIsLockedByOneProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "down")
	d := mustOpen(t, dir)
	if _, err := Open(dir); !errors.As(err, new(*LockedError)) {
		t.Errorf("opened twice: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, dir).Close(); err != nil {
		t.Error(err)
	}
}

func TestReplaceWritesTheWholeFile(t *testing.T) {
	d := mustOpen(t, t.TempDir())
	if _, err := d.Read("f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	for _, want := range []string{"long text", "short"} {
		if err := d.Replace("f", []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Read("f"); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func mustOpen(t *testing.T, dir string) *Dir {
	t.Helper()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
