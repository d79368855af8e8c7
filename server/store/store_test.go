package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommittedRecordsSurviveReopening(t *testing.T) {
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

func TestMissingRecordsAreNotFound(t *testing.T) {
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

func TestEachIDIsAliveOrBuriedOrUnknown(t *testing.T) {
	for name, tc := range map[string]struct {
		then         func(*Batch)
		alive        map[string]string
		cold, buried bool
	}{
		"buried, so without records": {func(b *Batch) { b.Bury("a", nil, 1) }, map[string]string{}, false, true},
		"put again, so without a tombstone": {func(b *Batch) {
			b.Bury("a", nil, 1)
			b.Put("a", []byte("new"))
		}, map[string]string{"a": "new"}, false, false},
		"deleted": {func(b *Batch) { b.Delete("a") }, map[string]string{}, false, false},
		"buried and deleted": {
			func(b *Batch) { b.Bury("a", nil, 1); b.Delete("a") },
			map[string]string{},
			false, false,
		},
		"without its cold record": {
			func(b *Batch) { b.DeleteCold("a") },
			map[string]string{"a": "hot"},
			false,
			false,
		},
		"unchanged by other changes": {
			func(b *Batch) { b.Delete("b"); b.DeleteCold("b") },
			map[string]string{"a": "hot"},
			true, false,
		},
		"changed, with its old cold record": {
			func(b *Batch) { b.Put("a", []byte("x")) },
			map[string]string{"a": "x"},
			true, false,
		},
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
			// Only buried IDs have an index entry.
			n, err := s.Expire(1, 10)
			if want := map[bool]int{true: 1}[tc.buried]; err != nil || n != want {
				t.Errorf("expired: %d, %v, want %d", n, err, want)
			}
		})
	}
}

func TestBatchCopiesItsArguments(t *testing.T) {
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

func TestOneChangeBeyondTheLimitsFailsTheBatch(t *testing.T) {
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

func TestExpireRemovesTheOldestUpToTheLimit(t *testing.T) {
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

func TestLoadReturnsTheCallersError(t *testing.T) {
	s := open(t, newPath(t))
	commit(t, s, func(b *Batch) { b.Put("a", nil); b.Put("b", nil) })
	mine, n := errors.New("mine"), 0
	err := s.Load(func(string, []byte) error { n++; return mine })
	if !errors.Is(err, mine) || n != 1 {
		t.Errorf("load: %v after %d records", err, n)
	}
}

func TestAPanicOfTheCallerIsNotDamage(t *testing.T) {
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

func TestProbeLeavesOnlyFreePages(t *testing.T) {
	s := open(t, newPath(t))
	commit(t, s, func(b *Batch) { b.Put("a", []byte("hot")) })
	for range 50 {
		if err := s.Probe(); err != nil {
			t.Fatal(err)
		}
	}
	if free := s.db.Stats().FreePageN + s.db.Stats().PendingPageN; free < probeSize/pageSize ||
		free > 4*probeSize/pageSize {
		t.Errorf("%d free pages", free)
	}
	if diff := cmp.Diff(map[string]string{"a": "hot"}, alive(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestStatsCountCommitsAndSyncs(t *testing.T) {
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

func TestConcurrentCommitsAndReads(t *testing.T) {
	s := open(t, newPath(t))
	var group sync.WaitGroup
	for writer := range 8 {
		group.Go(func() {
			for i := range 20 {
				id := fmt.Sprintf("%d-%d", writer, i)
				var b Batch
				b.Put(id, []byte(id))
				b.PutCold(id, []byte(id))
				if err := s.Commit(&b); err != nil {
					t.Error(err)
				}
				if cold, err := s.Cold(id); err != nil || string(cold) != id {
					t.Errorf("cold record of %s: %q, %v", id, cold, err)
				}
				s.Stats()
			}
		})
	}
	group.Wait()
	if n := len(alive(t, s)); n != 160 {
		t.Errorf("%d records", n)
	}
}

// Writes to an unlinked file are lost when the process ends.
func TestACommitToAFileThatWasRemovedOrReplacedFails(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"removed":                    os.Remove,
		"moved away":                 func(path string) error { return os.Rename(path, path+".old") },
		"removed with its directory": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s := open(t, path)
			commit(t, s, func(b *Batch) { b.Put("a", []byte("hot")) })
			if err := harm(path); err != nil {
				t.Fatal(err)
			}
			b := &Batch{}
			b.Put("b", []byte("hot"))
			var broken *BrokenError
			if err := s.Commit(b); !errors.As(err, &broken) || !strings.Contains(err.Error(), "removed or replaced") {
				t.Fatalf("commit: %v", err)
			}
			if err := s.Commit(b); !errors.As(err, &broken) {
				t.Errorf("next commit: %v", err)
			}
		})
	}
}
