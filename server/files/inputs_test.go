package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestAnAttemptGetsItsCopiesOnce(t *testing.T) {
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	key := batch.Key{Job: "j", Attempt: 1}
	c, work := filepath.Join(d.Work("j"), "c"), d.Work("j")
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copied := func(attempt uint32, resumes bool, want string) {
		t.Helper()
		key.Attempt = attempt
		if err := d.CopyInout(t.Context(), key, resumes); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(c); err != nil || string(got) != want {
			t.Errorf("attempt %d has %q, %v, want %q", attempt, got, err, want)
		}
	}
	if err := d.Make("j"); err != nil {
		t.Fatal(err)
	}
	if err := d.CopyInout(t.Context(), key, false); err != nil { // there is nothing to copy
		t.Fatal(err)
	}
	if _, err := os.Stat(work); err == nil {
		t.Error("work was created although there is nothing to copy")
	}
	write(filepath.Join(d.Job("j"), inout, "c"), "came")
	copied(1, false, "came")
	write(c, "changed")
	copied(1, false, "changed") // asked for again, while it runs
	copied(2, false, "came")
	write(c, "changed")
	copied(3, true, "changed")
	if err := os.Remove(c); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(c, "what", "is"), "this")
	copied(4, false, "came")
	if err := os.Remove(c); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	write(victim, "untouched")
	if err := os.Symlink(victim, c); err != nil {
		t.Fatal(err)
	}
	copied(5, false, "came")
	if got, err := os.ReadFile(victim); err != nil || string(got) != "untouched" {
		t.Errorf("the target of the link is %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(d.Job("j"), "copying")); err == nil {
		t.Error("the temporary copy is left")
	}
}
