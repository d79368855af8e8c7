package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

func TestASecondOpenIsRefusedAtOnce(t *testing.T) {
	path := newPath(t)
	first := open(t, path)
	var locked *LockedError
	if _, err := Open(Config{Path: path, Site: "alpha"}); !errors.As(err, &locked) {
		t.Fatalf("second Open: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

func TestAnotherSitesStoreIsRefused(t *testing.T) {
	path := newPath(t)
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	unchanged(t, path, func() {
		_, err := Open(Config{Path: path, Site: "beta"})
		var site *SiteError
		if !errors.As(err, &site) || site.Found != "alpha" {
			t.Errorf("open: %v", err)
		}
	})
}

func TestConfigNamesAllProblems(t *testing.T) {
	_, err := Open(Config{})
	if err == nil || !strings.Contains(err.Error(), "path") || !strings.Contains(err.Error(), "site") {
		t.Errorf("open: %v", err)
	}
}

func TestMakingAStoreLeavesNothingElse(t *testing.T) {
	path := newPath(t)
	open(t, path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("in the directory: %v, %v", entries, err)
	}
	if _, err := Open(Config{Path: filepath.Join(path, "below"), Site: "alpha"}); err == nil {
		t.Error("open below a file: no error")
	}
}

func TestAClosedStoreSaysSo(t *testing.T) {
	s := open(t, newPath(t))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var b Batch
	b.Put("a", nil)
	_, coldErr := s.Cold("a")
	for what, err := range map[string]error{
		"commit": s.Commit(&b), "cold": coldErr, "probe": s.Probe(),
		"load": s.Load(func(string, []byte) error { return nil }),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestACommitThatMayBeThereAfterItFailedBreaksTheStore(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	commit(t, s, func(b *Batch) { b.Put("a", nil) })
	last := 0
	if err := s.db.View(func(tx *bbolt.Tx) error { last = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("sync failed")
	// The header of the next transaction was never written: nothing of it is there.
	s.unlessUndone(last+1, failed)
	commit(t, s, func(b *Batch) { b.Put("b", nil) })
	// That of this one was, and it is not known whether it reached the disk.
	s.unlessUndone(last+1, failed)
	var b Batch
	b.Put("c", nil)
	var broken *BrokenError
	if err := s.Commit(&b); !errors.As(err, &broken) || !errors.Is(err, failed) {
		t.Errorf("commit: %v", err)
	}
	if _, err := s.Cold("a"); !errors.As(err, &broken) {
		t.Errorf("cold: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := alive(t, open(t, path)); len(got) != 2 {
		t.Errorf("alive after opening anew: %v", got)
	}
}

// unchanged fails the test if f changes a file or what else is in its directory.
func unchanged(t *testing.T, path string, f func()) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names := func() string {
		matches, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		return strings.Join(matches, "\n")
	}
	beside := names()
	f()
	after, err := os.ReadFile(path)
	if err != nil || string(before) != string(after) {
		t.Errorf("the file has changed (%v)", err)
	}
	if got := names(); got != beside {
		t.Errorf("in the directory:\n%s\nbefore:\n%s", got, beside)
	}
}
