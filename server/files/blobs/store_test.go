package blobs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func open(t *testing.T, dir string, largest, capacity int64) *Store {
	t.Helper()
	s, err := Open(Config{Dir: dir, Largest: largest, Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

func add(t *testing.T, s *Store, text string) Blob {
	t.Helper()
	b, err := s.Add(strings.NewReader(text), Want{})
	if err != nil || b.SHA256 != sum(text) || b.Size != int64(len(text)) {
		t.Fatalf("add %q: %v, %v", text, b, err)
	}
	return b
}

// count returns how many files lie below a directory.
func count(t *testing.T, dir string) int {
	n := 0
	if err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheSameContentIsKeptOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 100, 1000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { add(t, s, "same") })
	}
	all.Wait()
	add(t, s, "other")
	if n := count(t, dir); n != 2 {
		t.Errorf("%d files", n)
	}
	if b, err := s.Find(sum("same")); err != nil || b.Size != 4 {
		t.Errorf("find: %v, %v", b, err)
	}
	if _, err := s.Find(sum("never")); !errors.Is(err, ErrUnknown) {
		t.Errorf("find: %v", err)
	}
}

func TestNothingIsKeptOfWhatIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 10, 20)
	var size *SizeError
	var mismatch *MismatchError
	if _, err := s.Add(strings.NewReader("12345678901"), Want{}); !errors.As(err, &size) || size.Limit != 10 {
		t.Errorf("too large: %v", err)
	}
	if _, err := s.Add(iotest.ErrReader(errors.New("read")), Want{Size: 11}); !errors.As(err, &size) {
		t.Errorf("said to be too large: %v", err)
	}
	if _, err := s.Add(strings.NewReader("abc"), Want{Size: 4}); !errors.As(err, &mismatch) ||
		mismatch.Field != "size_bytes" {
		t.Errorf("another size: %v", err)
	}
	if _, err := s.Add(strings.NewReader("abc"), Want{SHA256: sum("abd")}); !errors.As(err, &mismatch) ||
		mismatch.Field != "sha256" {
		t.Errorf("another content: %v", err)
	}
	broken := errors.New("the sender has gone")
	if _, err := s.Add(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), Want{}); !errors.Is(err,
		broken) {
		t.Errorf("half a file: %v", err)
	}
	if n := count(t, dir); n != 0 {
		t.Errorf("%d files are left", n)
	}
	if _, err := s.Add(strings.NewReader("1234567890"), Want{SHA256: sum("1234567890"), Size: 10}); err != nil {
		t.Errorf("the largest: %v", err)
	}
}

func TestTheLeastRecentlyUsedGoesFirstAndLinksStay(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "store"), 10, 10)
	a, b := add(t, s, "aaaa"), add(t, s, "bbbb")
	link := filepath.Join(dir, "link")
	if err := s.Link(b.SHA256, link); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(a.SHA256); err != nil { // so that b is the oldest
		t.Fatal(err)
	}
	c := add(t, s, "cccc")
	for _, x := range []struct {
		Blob
		kept bool
	}{{a, true}, {b, false}, {c, true}} {
		if _, err := s.Find(x.SHA256); (err == nil) != x.kept {
			t.Errorf("%v kept: %v, want %v", x.Blob, err == nil, x.kept)
		}
	}
	if err := s.Link(b.SHA256, filepath.Join(dir, "again")); !errors.Is(err, ErrUnknown) {
		t.Errorf("link of what has gone: %v", err)
	}
	if text, err := os.ReadFile(link); err != nil || string(text) != "bbbb" {
		t.Errorf("link: %q, %v", text, err)
	}
	if info, err := os.Stat(link); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("mode: %v, %v", info, err)
	}
}

func TestAStoreIsFoundAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 10, 20)
	add(t, s, "aaaa")
	add(t, s, "bbbb")
	half := filepath.Join(dir, "new-123")
	if err := os.WriteFile(half, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, 10, 20)
	for _, text := range []string{"aaaa", "bbbb"} {
		if b, err := s.Find(sum(text)); err != nil || b.Size != 4 {
			t.Errorf("%s: %v, %v", text, b, err)
		}
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was half written: %v", err)
	}
	open(t, dir, 5, 5) // a smaller one
	if n := count(t, dir); n != 1 {
		t.Errorf("%d files in a store with room for one", n)
	}
}

func TestLinkDoesNotReplaceAFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "store"), 10, 20)
	b := add(t, s, "aaaa")
	name := filepath.Join(dir, "mine")
	if err := os.WriteFile(name, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Link(b.SHA256, name); !errors.Is(err, fs.ErrExist) {
		t.Errorf("link over a file: %v", err)
	}
	if err := s.Link(b.SHA256, filepath.Join(dir, "none", "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("link without a directory: %v", err)
	}
}

func TestACopyIsAsGoodAsALink(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "store"), 10, 20)
	b := add(t, s, "aaaa")
	name := filepath.Join(dir, "copy")
	if err := copyFile(s.path(b.SHA256), name); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if info, e := os.Stat(name); err != nil || e != nil || !bytes.Equal(text, []byte("aaaa")) ||
		info.Mode().Perm() != 0o400 {
		t.Errorf("copy: %q, %v, %v", text, err, e)
	}
}

func TestLimitsAreChecked(t *testing.T) {
	for _, c := range []Config{{Largest: 0, Capacity: 1}, {Largest: 1, Capacity: 0}} {
		c.Dir = t.TempDir()
		if _, err := Open(c); err == nil {
			t.Errorf("%+v: accepted", c)
		}
	}
}

func TestKnownContentTakesNoRoomAgain(t *testing.T) {
	s := open(t, t.TempDir(), 10, 8)
	a, b := add(t, s, "aaaa"), add(t, s, "bbbb")
	add(t, s, "bbbb")
	for _, x := range []Blob{a, b} {
		if _, err := s.Find(x.SHA256); err != nil {
			t.Errorf("%v: %v", x, err)
		}
	}
}
