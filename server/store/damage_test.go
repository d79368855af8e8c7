package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// filled returns the file of a store with branches, inline and other buckets, records
// longer than a page, tombstones and free pages, without a hole at its end.
func filled(t testing.TB) []byte {
	t.Helper()
	path := newPath(t)
	s := open(t, path)
	for round := range 3 {
		commit(t, s, func(b *Batch) {
			for i := range 60 {
				id := fmt.Sprintf("job-%03d", i)
				b.Put(id, []byte(strings.Repeat("h", 200+round)))
				b.PutCold(id, []byte(strings.Repeat("c", 50+i%7*900)))
			}
			for i := range 20 {
				b.Bury(fmt.Sprintf("gone-%03d", i+round*10), []byte("rest"), int64(i))
			}
			b.SetMeta("view", []byte{byte(round)})
		})
	}
	if err := s.Probe(); err != nil {
		t.Fatal(err)
	}
	var pages int64
	if err := s.db.View(func(tx *bbolt.Tx) error { pages = tx.Size(); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	bytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes[:pages]
}

func write(t testing.TB, content []byte) string {
	t.Helper()
	path := newPath(t)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// refused fails the test unless Open refuses the file with this damage and does not
// change it.
func refused(t *testing.T, path, how string) {
	t.Helper()
	unchanged(t, path, func() {
		s, err := Open(Config{Path: path, Site: "alpha"})
		var damaged *DamagedError
		if !errors.As(err, &damaged) {
			t.Errorf("open: %v, want a DamagedError", err)
		} else if !strings.Contains(err.Error(), how) || !strings.Contains(err.Error(), path) {
			t.Errorf("open: %v, want %q and the path", err, how)
		}
		if err == nil {
			_ = s.Close()
		}
	})
	// No lock is left, so a repaired file can be opened.
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(lock(file, path), release(file)); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesADamagedFileAndDoesNotChangeIt(t *testing.T) {
	whole := filled(t)
	newest := 0
	if first, second := order.Uint64(whole[64:]), order.Uint64(whole[pageSize+64:]); second > first {
		newest = pageSize
	}
	root := int(order.Uint64(whole[newest+32:])) * pageSize
	free := int(order.Uint64(whole[newest+48:])) * pageSize
	for name, tc := range map[string]struct {
		damage func(b []byte) []byte
		how    string
	}{
		"empty":       {func(b []byte) []byte { return nil }, "header 0"},
		"a few bytes": {func(b []byte) []byte { return b[:100] }, "header 1"},
		"text": {
			func(b []byte) []byte { return []byte(strings.Repeat("no database\n", 2000)) },
			"not a bbolt file",
		},
		"zeros":                        {func(b []byte) []byte { clear(b); return b }, "not a bbolt file"},
		"only headers":                 {func(b []byte) []byte { return b[:2*pageSize] }, "truncated"},
		"a missing last page":          {func(b []byte) []byte { return b[:len(b)-1] }, "truncated"},
		"the newest header":            {flip(newest + 16 + 40), "checksum"},
		"the other header":             {flip(pageSize - newest + 16 + 40), "checksum"},
		"a header's checksum":          {flip(newest + 16 + 56), "checksum"},
		"a header's magic":             {flip(newest + 16), "not a bbolt file"},
		"an unknown file format":       {flip(newest + 16 + 4), "file format"},
		"the root's number":            {flip(root), "is marked as page"},
		"the root's kind":              {flip(root + 8), "is marked"},
		"the root's count":             {flip(root + 10), "misplaced"},
		"the root's length":            {flip(root + 14), "of "},
		"the free list's kind":         {flip(free + 8), "is marked"},
		"an impossible free page":      {flip(free + 16 + 6), "of "},
		"the free list's count":        {flip(free + 11), "free pages"},
		"a directory is no store file": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.damage == nil {
				if _, err := Open(Config{Path: t.TempDir(), Site: "alpha"}); err == nil {
					t.Error("no error")
				}
				return
			}
			refused(t, write(t, tc.damage([]byte(string(whole)))), tc.how)
		})
	}
}

// flip flips one bit.
func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 1; return b }
}

func TestOpenRefusesTheDatabaseOfAnotherProgram(t *testing.T) {
	path := newPath(t)
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, path, errForeign.Error())
}

func TestReadingADamagedRecordFails(t *testing.T) {
	whole := filled(t)
	for name, tc := range map[string]struct {
		record string
		read   func(*Store) error
	}{
		"hot": {strings.Repeat("h", 202), func(s *Store) error {
			return s.Load(func(string, []byte) error { return nil })
		}},
		"cold": {strings.Repeat("c", 50+2*900), func(s *Store) error {
			for i := range 60 {
				if _, err := s.Cold(fmt.Sprintf("job-%03d", i)); err != nil {
					return err
				}
			}
			return nil
		}},
		"tombstone": {"rest", func(s *Store) error {
			var b Batch
			for i := range 40 {
				b.Put(fmt.Sprintf("gone-%03d", i), nil)
			}
			return s.Commit(&b)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			// The file also contains old versions of pages, which are damaged too.
			path := write(t, []byte(strings.ReplaceAll(string(whole), tc.record, "X"+tc.record[1:])))
			s := open(t, path)
			err := tc.read(s)
			var damaged *DamagedError
			if !errors.As(err, &damaged) || !errors.Is(err, errSum) {
				t.Errorf("read: %v", err)
			}
		})
	}
}

func TestExpireRefusesAnIndexThatContradictsItsTombstones(t *testing.T) {
	s := open(t, newPath(t))
	commit(t, s, func(b *Batch) { b.Bury("a", nil, 5) })
	if err := s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketUntil).Put(untilKey(4, []byte("a")), nil)
	}); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := s.Expire(9, 10); !errors.As(err, &damaged) {
		t.Errorf("expire: %v", err)
	}
	if _, buried, err := s.Tombstone("a"); !buried || err != nil {
		t.Errorf("the refused transaction changed the tombstone: %v, %v", buried, err)
	}
}

func TestReadingATruncatedFileBreaksOnlyTheStore(t *testing.T) {
	path := write(t, filled(t))
	s, err := Open(Config{Path: path, Site: "alpha"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if err := s.Load(func(string, []byte) error { return nil }); !errors.As(err, &damaged) {
		t.Errorf("load: %v", err)
	}
	var b Batch
	b.Put("a", nil)
	var broken *BrokenError
	if err := s.Commit(&b); !errors.As(err, &broken) {
		t.Errorf("commit: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	refused(t, path, "header 0")
}

func TestACommitToATruncatedFileBreaksTheStore(t *testing.T) {
	path := write(t, filled(t))
	s, err := Open(Config{Path: path, Site: "alpha"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var b Batch
		b.Put("job-030", nil)
		if err := s.Commit(&b); err == nil {
			t.Error("commit: no error")
		}
	}
	if s.broken.Load() == nil {
		t.Error("the store is not broken")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
