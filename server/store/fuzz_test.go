package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// FuzzOpen changes bytes of a valid file: the i-th two bytes of where, times four, are the
// offset of what[i].
func FuzzOpen(f *testing.F) {
	whole := filled(f)
	f.Add([]byte{0, 4, 0, 8}, []byte{1, 255}, uint32(0))
	f.Add([]byte{0, 0}, []byte{0}, uint32(5000))
	f.Add([]byte{12, 1, 12, 2, 16, 3}, []byte{7, 8, 9}, uint32(0))
	path := filepath.Join(f.TempDir(), "drover.db")
	f.Fuzz(func(t *testing.T, where, what []byte, cut uint32) {
		content := []byte(string(whole))
		for i := 0; i+1 < len(where) && i/2 < len(what); i += 2 {
			at := (int(where[i])<<8 | int(where[i+1])) * 4
			content[at%len(content)] ^= what[i/2]
		}
		content = content[:len(content)-int(cut)%len(content)]
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{Path: path, Site: "alpha"})
		if err != nil {
			after, readErr := os.ReadFile(path)
			if readErr != nil || string(after) != string(content) {
				t.Errorf("the refused file has changed (%v)", readErr)
			}
			var damaged *DamagedError
			if !errors.As(err, &damaged) {
				t.Errorf("open: %v", err)
			}
			return
		}
		use(t, s)
	})
}

// use reads and writes the whole of a store that Open accepted. It can still find damage,
// but only as a DamagedError for a wrong checksum: a file that passes Open does not make
// bbolt fail.
func use(t *testing.T, s *Store) {
	mayBeDamaged := func(what string, err error) {
		var damaged *DamagedError
		if err != nil && !errors.As(err, &damaged) && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	mayBeDamaged("load", s.Load(func(string, []byte) error { return nil }))
	var b Batch
	for i := range 60 {
		id := fmt.Sprintf("job-%03d", i)
		_, err := s.Cold(id)
		mayBeDamaged("cold", err)
		b.Delete(id)
	}
	mayBeDamaged("commit", s.Commit(&b))
	_, err := s.Expire(100, 1000)
	mayBeDamaged("expire", err)
	mayBeDamaged("probe", s.Probe())
	if broken := s.broken.Load(); broken != nil {
		t.Errorf("what Open let pass broke the store: %v", broken)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
