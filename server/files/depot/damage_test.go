package depot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDamagedRecordsAreNamedAndPassedOver(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, 1000, 0)
	f.must(1, "whole", Persistent)
	for n := 2; n < 8; n++ {
		f.must(n, "damaged", Persistent)
	}
	change := func(n int, how func(string) string) {
		text, err := os.ReadFile(f.record(id(n)))
		if err == nil {
			err = os.WriteFile(f.record(id(n)), []byte(how(string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change(2, func(string) string { return "" })
	change(3, func(s string) string { return s[:len(s)-1] })
	change(4, func(s string) string { return strings.Replace(s, `"owner":"ann"`, `"owner":"bob"`, 1) })
	change(5, func(string) string {
		text, _ := encode(map[string]string{"id": id(5), "unheard": "of"})
		return string(text)
	})
	change(6, func(string) string {
		text, _ := encode(Data{ID: id(5), SHA256: sum("damaged"), Size: 7, Mode: Persistent})
		return string(text)
	})
	change(7, func(string) string {
		text, _ := encode(Data{ID: id(7), SHA256: sum("damaged"), Size: 7, Mode: "for ever"})
		return string(text)
	})
	for _, name := range []string{"README", ".new-1"} {
		if err := os.WriteFile(filepath.Join(f.records(), name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := open(t, dir, 1000, 0)
	if got := g.here(); got != "1" {
		t.Errorf("handles: %s", got)
	}
	if len(g.damaged) != 7 {
		t.Errorf("%d damaged: %v", len(g.damaged), g.damaged)
	}
	for _, err := range g.damaged {
		var d *DamagedError
		if !errors.As(err, &d) || d.Path == "" || d.Err == nil {
			t.Errorf("damage: %v", err)
		}
	}
	if n := files(t, g.records()); n != 8 {
		t.Errorf("%d files: what is damaged should stay, what was half written go", n)
	}
	g.must(3, "anew", Persistent) // its handle names nothing
	if got := open(t, dir, 1000, 0).here(); got != "1 3" {
		t.Errorf("handles: %s", got)
	}
}

func TestDataWhoseContentIsGoneAreLost(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, 1000, 0)
	f.must(1, "whole", Persistent)
	f.must(2, "gone", Persistent)
	sha := sum("gone")
	if err := os.Remove(filepath.Join(dir, "content", sha[:2], sha)); err != nil {
		t.Fatal(err)
	}
	g := open(t, dir, 1000, 0)
	if len(g.lost) != 1 || g.lost[0].ID != id(2) || g.here() != "1" || g.Usage().Used != 5 {
		t.Errorf("lost %v, here %s, %+v", g.lost, g.here(), g.Usage())
	}
	var gone *GoneError
	if _, err := g.Get(id(2)); !errors.As(err, &gone) || gone.Fate != Lost {
		t.Errorf("get: %v", err)
	}
}

func TestWhatBecameOfDataIsRememberedOverARestart(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, 10, 0)
	f.must(1, "ten bytes.", Persistent)
	f.must(2, "ten bytes!", Persistent)
	if _, _, err := f.Remove(id(2)); err != nil {
		t.Fatal(err)
	}
	f = open(t, dir, 10, 0)
	for n, want := range map[int]Fate{1: Evicted, 2: Removed} {
		var gone *GoneError
		if _, err := f.Get(id(n)); !errors.As(err, &gone) || gone.Fate != want ||
			!strings.Contains(err.Error(), id(n)) {
			t.Errorf("handle %d: %v", n, err)
		}
	}
	if _, err := f.Get(id(3)); !errors.Is(err, ErrUnknown) {
		t.Errorf("never here: %v", err)
	}
	f.must(1, "ten bytes.", Persistent) // once more
	if f = open(t, dir, 10, 0); f.here() != "1" {
		t.Errorf("handles: %s", f.here())
	}
	if n := files(t, filepath.Join(dir, "depot", "gone")); n != 1 {
		t.Errorf("%d fates are remembered", n)
	}
}

func FuzzDecode(f *testing.F) {
	good, err := encode(Data{ID: id(1), SHA256: sum("x"), Size: 1, Mode: Persistent})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("00000000\n{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d Data
		if err := decode(text, &d); err != nil || d.check() != nil {
			return
		}
		again, err := encode(d)
		if err != nil {
			t.Fatal(err)
		}
		var e Data
		if err := decode(again, &e); err != nil || !d.same(&e) || d.ID != e.ID {
			t.Fatalf("%q became %q: %v", text, again, err)
		}
	})
}
