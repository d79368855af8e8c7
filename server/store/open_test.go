package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

func TestASecondOpenFailsAtOnce(t *testing.T) {
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

func TestOpenRefusesTheStoreOfAnotherSite(t *testing.T) {
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

// The list of free pages must be in every commit; see options.
func TestTheDatabaseSyncsEverything(t *testing.T) {
	db := open(t, newPath(t)).db
	if db.NoSync || db.NoGrowSync || db.NoFreelistSync {
		t.Errorf("NoSync %v, NoGrowSync %v, NoFreelistSync %v", db.NoSync, db.NoGrowSync, db.NoFreelistSync)
	}
}

func TestCreatingAStoreLeavesNoOtherFiles(t *testing.T) {
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

func TestAClosedStoreReturnsErrClosed(t *testing.T) {
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

func TestAFailedCommitThatCanBeStoredBreaksTheStore(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	commit(t, s, func(b *Batch) { b.Put("a", nil) })
	last := 0
	if err := s.db.View(func(tx *bbolt.Tx) error { last = tx.ID(); return nil }); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("sync failed")
	// The header of the next transaction was not written, so none of it is stored.
	s.unlessUndone(last+1, failed)
	commit(t, s, func(b *Batch) { b.Put("b", nil) })
	// The header of this one was written, and it is unknown whether it is on disk.
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
		t.Errorf("alive after reopening: %v", got)
	}
}

// unchanged fails the test if f changes a file or the list of files in its directory.
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
