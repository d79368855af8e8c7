package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatWasCommittedIsThereAfterOpeningAnew(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	commit(t, s, func(b *Batch) {
		b.Put("a", []byte("hot a"))
		b.Put("b", nil)
		b.PutCold("a", []byte("cold a"))
		b.Put("c", []byte("hot c"))
		b.Bury("c", []byte("rest of c"), 10)
		b.SetMeta("view", []byte("7"))
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if diff := cmp.Diff(map[string]string{"a": "hot a", "b": ""}, alive(t, s)); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
	cold, err := s.Cold("a")
	if err != nil || string(cold) != "cold a" {
		t.Errorf("cold record: %q, %v", cold, err)
	}
	rest, buried, err := s.Tombstone("c")
	if err != nil || !buried || string(rest) != "rest of c" {
		t.Errorf("tombstone: %q, %v, %v", rest, buried, err)
	}
	view, err := s.Meta("view")
	if err != nil || string(view) != "7" {
		t.Errorf("meta: %q, %v", view, err)
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	s := open(t, newPath(t))
	commit(t, s, func(b *Batch) { b.Put("a", []byte("hot")) })
	if _, err := s.Cold("a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("cold record: %v", err)
	}
	if _, err := s.Meta("a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("meta: %v", err)
	}
	if _, buried, err := s.Tombstone("a"); buried || err != nil {
		t.Errorf("tombstone: %v, %v", buried, err)
	}
}

func TestAnIDIsAliveOrBuriedOrUnknown(t *testing.T) {
	for name, tc := range map[string]struct {
		then         func(*Batch)
		alive        map[string]string
		cold, buried bool
	}{
		"buried: its records are gone": {func(b *Batch) { b.Bury("a", nil, 1) }, map[string]string{}, false, true},
		"put again: its tombstone is gone": {func(b *Batch) {
			b.Bury("a", nil, 1)
			b.Put("a", []byte("new"))
		}, map[string]string{"a": "new"}, false, false},
		"deleted":                        {func(b *Batch) { b.Delete("a") }, map[string]string{}, false, false},
		"buried and deleted":             {func(b *Batch) { b.Bury("a", nil, 1); b.Delete("a") }, map[string]string{}, false, false},
		"without its cold record":        {func(b *Batch) { b.DeleteCold("a") }, map[string]string{"a": "hot"}, false, false},
		"nothing happens to it":          {func(b *Batch) { b.Delete("b"); b.DeleteCold("b") }, map[string]string{"a": "hot"}, true, false},
		"changed: its cold record stays": {func(b *Batch) { b.Put("a", []byte("x")) }, map[string]string{"a": "x"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, newPath(t))
			commit(t, s, func(b *Batch) { b.Put("a", []byte("hot")); b.PutCold("a", []byte("cold")) })
			commit(t, s, tc.then)
			if diff := cmp.Diff(tc.alive, alive(t, s)); diff != "" {
				t.Errorf("alive (-want +got):\n%s", diff)
			}
			if _, err := s.Cold("a"); (err == nil) != tc.cold {
				t.Errorf("cold record: %v", err)
			}
			if _, buried, err := s.Tombstone("a"); err != nil || buried != tc.buried {
				t.Errorf("buried: %v, %v", buried, err)
			}
			// No index entry is left behind for what is not buried.
			n, err := s.Expire(1, 10)
			if want := map[bool]int{true: 1}[tc.buried]; err != nil || n != want {
				t.Errorf("expired: %d, %v, want %d", n, err, want)
			}
		})
	}
}

func TestABatchCopiesWhatItIsGiven(t *testing.T) {
	s := open(t, newPath(t))
	var b Batch
	record := []byte("first")
	b.Put("a", record)
	copy(record, "other")
	if err := s.Commit(&b); err != nil {
		t.Fatal(err)
	}
	if got := alive(t, s)["a"]; got != "first" {
		t.Errorf("record: %q", got)
	}
}

func TestOneChangeThatCannotBeHeldFailsTheBatch(t *testing.T) {
	s := open(t, newPath(t))
	long := strings.Repeat("x", LargestID+1)
	for name, add := range map[string]func(*Batch){
		"an empty ID":    func(b *Batch) { b.Put("", nil) },
		"an empty key":   func(b *Batch) { b.SetMeta("", nil) },
		"a long ID":      func(b *Batch) { b.Bury(long, nil, 0) },
		"a large record": func(b *Batch) { b.PutCold("b", make([]byte, LargestRecord+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			var b Batch
			b.Put("a", nil)
			add(&b)
			b.Put("c", nil)
			var limit *LimitError
			if err := s.Commit(&b); !errors.As(err, &limit) {
				t.Errorf("commit: %v", err)
			}
			if got := alive(t, s); len(got) > 0 {
				t.Errorf("alive: %v", got)
			}
			b.Reset()
			if err := s.Commit(&b); err != nil || b.Len() != 0 {
				t.Errorf("after Reset: %d changes, %v", b.Len(), err)
			}
		})
	}
}

func TestExpireTakesTheOldestAndNoMoreThanTheLimit(t *testing.T) {
	s := open(t, newPath(t))
	commit(t, s, func(b *Batch) {
		b.Bury("z", nil, -5)
		b.Bury("y", nil, 0)
		b.Bury("x", nil, 7)
		b.Bury("w", nil, 8)
		b.Bury("w", nil, 9) // buried longer
	})
	before := s.Stats().Commits
	for _, step := range []struct {
		now       int64
		limit     int
		n         int
		remaining string
	}{
		{-6, 10, 0, "wxyz"},
		{8, 1, 1, "wxy"},
		{8, 1, 1, "wx"},
		{6, 1, 0, "wx"},
		{8, 10, 1, "w"},
		{9, 0, 0, "w"},
		{9, 10, 1, ""},
	} {
		n, err := s.Expire(step.now, step.limit)
		if err != nil || n != step.n {
			t.Errorf("Expire(%d, %d): %d, %v, want %d", step.now, step.limit, n, err, step.n)
		}
		remaining := ""
		for _, id := range []string{"w", "x", "y", "z"} {
			if _, buried, _ := s.Tombstone(id); buried {
				remaining += id
			}
		}
		if remaining != step.remaining {
			t.Errorf("after Expire(%d, %d): %q, want %q", step.now, step.limit, remaining, step.remaining)
		}
	}
	if n := s.Stats().Commits - before; n > 5 {
		t.Errorf("%d commits; nothing to expire should write nothing", n)
	}
}

func TestTheErrorOfALoadersFunctionComesBack(t *testing.T) {
	s := open(t, newPath(t))
	commit(t, s, func(b *Batch) { b.Put("a", nil); b.Put("b", nil) })
	mine, n := errors.New("mine"), 0
	err := s.Load(func(string, []byte) error { n++; return mine })
	if !errors.Is(err, mine) || n != 1 {
		t.Errorf("load: %v after %d records", err, n)
	}
}

func TestAPanicInALoadersFunctionIsNoDamage(t *testing.T) {
	s := open(t, newPath(t))
	commit(t, s, func(b *Batch) { b.Put("a", nil) })
	func() {
		defer func() {
			if p := recover(); p != "mine" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = s.Load(func(string, []byte) error { panic("mine") })
	}()
	commit(t, s, func(b *Batch) { b.Put("b", nil) })
}

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

func TestProbeLeavesRoomAndNothingElse(t *testing.T) {
	s := open(t, newPath(t))
	commit(t, s, func(b *Batch) { b.Put("a", []byte("hot")) })
	for range 50 {
		if err := s.Probe(); err != nil {
			t.Fatal(err)
		}
	}
	if free := s.db.Stats().FreePageN + s.db.Stats().PendingPageN; free < probeSize/pageSize || free > 4*probeSize/pageSize {
		t.Errorf("%d free pages", free)
	}
	if diff := cmp.Diff(map[string]string{"a": "hot"}, alive(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestStatsCount(t *testing.T) {
	s := open(t, newPath(t))
	before := s.Stats()
	commit(t, s, func(b *Batch) { b.Put("ab", []byte("xyz")); b.Delete("c") })
	commit(t, s, func(*Batch) {})
	got := s.Stats()
	if got.LastCommit <= 0 || got.FileSize < 4*pageSize || got.Syncs < 2 || got.Syncs > 3 {
		t.Errorf("stats: %+v", got)
	}
	if got.Commits-before.Commits != 1 || got.Records != 2 || got.Bytes != 6 {
		t.Errorf("stats: %+v", got)
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
