package depot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/server/files/blobs"
)

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// id returns the n-th handle.
func id(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", n) }

// fixture is a depot with its content, on a clock that goes on by a second at each look.
type fixture struct {
	*Depot
	t       testing.TB
	dir     string
	content *blobs.Store
	damaged []error
	lost    []Data
}

func open(t testing.TB, dir string, quota, owner int64) *fixture {
	t.Helper()
	d, damaged, err := Open(Config{Dir: filepath.Join(dir, "depot"), Quota: quota, OwnerQuota: owner})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Hour)
	d.now = func() time.Time {
		at = at.Add(time.Second)
		return at
	}
	content, err := blobs.Open(blobs.Config{
		Dir: filepath.Join(dir, "content"), Largest: 1000, Capacity: 1000, Pinned: d.Contents(),
	})
	if err != nil {
		t.Fatal(err)
	}
	lost, err := d.Attach(content)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{Depot: d, t: t, dir: dir, content: content, damaged: damaged, lost: lost}
}

// put has a text stay under the n-th handle.
func (f *fixture) put(n int, text string, mode Mode, change ...func(*Data)) error {
	f.t.Helper()
	if _, err := f.content.Add(strings.NewReader(text), blobs.Want{}); err != nil {
		f.t.Fatal(err)
	}
	data := Data{ID: id(n), SHA256: sum(text), Size: int64(len(text)), Mode: mode, Owner: "ann"}
	for _, c := range change {
		c(&data)
	}
	_, err := f.Put(data)
	return err
}

// must is put without an error.
func (f *fixture) must(n int, text string, mode Mode, change ...func(*Data)) {
	f.t.Helper()
	if err := f.put(n, text, mode, change...); err != nil {
		f.t.Fatal(err)
	}
}

// here lists the numbers of the handles.
func (f *fixture) here() string {
	var out []string
	page, _ := f.List("", 1000, func(*Data) bool { return true })
	for _, d := range page {
		n, err := strconv.ParseInt(d.ID[24:], 16, 64)
		if err != nil {
			f.t.Fatal(err)
		}
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, " ")
}

func isCopy(d *Data)              { d.Copy = true }
func of(owner string) func(*Data) { return func(d *Data) { d.Owner = owner } }

func TestDataAreFoundAgainAfterARestart(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, 100, 0)
	f.must(1, "content", Persistent, func(d *Data) {
		d.Name, d.Element, d.Dimensions, d.Job = "a.bin", "uint8", []int64{7}, id(9)
	})
	f.must(2, "copied", Volatile, isCopy, of("bob"))
	if _, err := f.Use(id(2), id(8)); err != nil {
		t.Fatal(err)
	}
	before, _ := f.List("", 9, func(*Data) bool { return true })
	g := open(t, dir, 100, 0)
	after, _ := g.List("", 9, func(*Data) bool { return true })
	near := cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Microsecond })
	if d := cmp.Diff(before, after, near); d != "" || len(g.damaged)+len(g.lost) > 0 {
		t.Error(d, g.damaged, g.lost)
	}
	if u := g.Usage(); u.Handles != 2 || u.Used != 13 || u.Quota != 100 {
		t.Errorf("usage: %+v", u)
	}
	if users := g.Users(); len(users) != 1 || users[0] != id(8) {
		t.Errorf("users: %v", users)
	}
	file, d, err := g.Content(id(1))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got, err := io.ReadAll(file); err != nil || string(got) != "content" || d.Size != 7 {
		t.Errorf("content: %q, %v, %v", got, d, err)
	}
}

func TestTheSameDataAgainChangeNothingAndOthersAreRefused(t *testing.T) {
	f := open(t, t.TempDir(), 100, 0)
	f.must(1, "content", Persistent)
	first, _ := f.Get(id(1))
	f.must(1, "content", Persistent, func(d *Data) { d.Name = "other name" })
	if again, _ := f.Get(id(1)); !again.Put.Equal(first.Put) || again.Name != "" {
		t.Errorf("%+v, before %+v", again, first)
	}
	for name, err := range map[string]error{
		"content":    f.put(1, "another", Persistent),
		"mode":       f.put(1, "content", Sticky),
		"owner":      f.put(1, "content", Persistent, of("bob")),
		"element":    f.put(1, "content", Persistent, func(d *Data) { d.Element = "uint8" }),
		"dimensions": f.put(1, "content", Persistent, func(d *Data) { d.Dimensions = []int64{7} }),
	} {
		var conflict *ConflictError
		if !errors.As(err, &conflict) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

func TestWhatCannotBeDataIsRefused(t *testing.T) {
	f := open(t, t.TempDir(), 100, 0)
	for name, change := range map[string]func(*Data){
		"a handle":      func(d *Data) { d.ID = "../../etc/passwd" },
		"a SHA-256":     func(d *Data) { d.SHA256 = "x" },
		"a size":        func(d *Data) { d.Size = -1 },
		"another size":  func(d *Data) { d.Size = 8 },
		"a mode":        func(d *Data) { d.Mode = "" },
		"dimensions":    func(d *Data) { d.Dimensions = []int64{-1} },
		"a sticky copy": func(d *Data) { d.Copy, d.Mode = true, Sticky },
	} {
		if err := f.put(1, "content", Persistent, change); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := f.Put(Data{ID: id(1), SHA256: sum("never"), Size: 5, Mode: Persistent}); !errors.Is(err,
		blobs.ErrUnknown) {
		t.Errorf("content that is not there: %v", err)
	}
	if got := f.here(); got != "" || files(t, f.records()) != 0 {
		t.Errorf("handles: %s", got)
	}
}

func TestContentOfDataStaysHoweverFullTheStoreIs(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, 100, 0)
	f.must(1, "content", Persistent)
	f.must(2, "content", Volatile)
	fill := func() {
		for i := range 3 {
			if _, err := f.content.Add(strings.NewReader(strings.Repeat(fmt.Sprint(i), 900)),
				blobs.Want{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	there := func() bool {
		_, err := f.content.Find(sum("content"))
		return err == nil
	}
	if fill(); !there() {
		t.Fatal("it went")
	}
	f = open(t, dir, 100, 0)
	if fill(); !there() {
		t.Fatal("it went after a restart")
	}
	if _, _, err := f.Remove(id(1)); err != nil {
		t.Fatal(err)
	}
	if fill(); !there() {
		t.Fatal("it went with one of its two handles")
	}
	if was, ok, err := f.Remove(id(2)); err != nil || !ok || was.Mode != Volatile {
		t.Fatal(was, ok, err)
	}
	if fill(); there() {
		t.Error("it stays without a handle")
	}
	if _, ok, err := f.Remove(id(2)); err != nil || ok {
		t.Errorf("removed twice: %v, %v", ok, err)
	}
}

func TestPagesOfAList(t *testing.T) {
	f := open(t, t.TempDir(), 100, 0)
	for n := 9; n > 0; n-- {
		f.must(n, fmt.Sprint(n), Persistent, of([]string{"ann", "bob"}[n%2]))
	}
	ann := func(d *Data) bool { return d.Owner == "ann" }
	page, more := f.List("", 3, ann)
	if len(page) != 3 || page[0].ID != id(2) || page[2].ID != id(6) || !more {
		t.Errorf("first page: %v, %v", page, more)
	}
	page, more = f.List(page[2].ID, 3, ann)
	if len(page) != 1 || page[0].ID != id(8) || more {
		t.Errorf("second page: %v, %v", page, more)
	}
	if _, _, err := f.Remove(id(6)); err != nil {
		t.Fatal(err)
	}
	if page, _ = f.List(id(6), 3, ann); len(page) != 1 || page[0].ID != id(8) {
		t.Errorf("behind a handle that has gone: %v", page)
	}
}

// files counts what lies in a directory.
func files(t testing.TB, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestVolatileDataGoWithTheFirstJobThatHasUsedThem(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, 100, 0)
	f.must(1, "spent", Volatile)
	f.must(2, "stays", Persistent)
	f.must(3, "other", Volatile)
	for _, n := range []int{1, 2} {
		for _, job := range []int{7, 8, 8} {
			if _, err := f.Use(id(n), id(job)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.Unused(id(7)); err != nil { // it was not accepted
		t.Fatal(err)
	}
	f = open(t, dir, 100, 0)
	if err := errors.Join(f.Ended(id(7)), f.Ended(id(9))); err != nil || f.here() != "1 2 3" {
		t.Fatalf("after the ends of jobs that use nothing: %s, %v", f.here(), err)
	}
	if err := f.Ended(id(8)); err != nil || f.here() != "2 3" {
		t.Fatalf("after its end: %s, %v", f.here(), err)
	}
	var gone *GoneError
	if _, err := f.Use(id(1), id(9)); !errors.As(err, &gone) || gone.Fate != Spent || gone.Job != id(8) {
		t.Errorf("used again: %v", err)
	}
	if len(f.Users()) != 0 {
		t.Errorf("users: %v", f.Users())
	}
}
