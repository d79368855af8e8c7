package blobs

import (
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// holds lists which of some texts are in a store, without using them.
func holds(s *Store, texts ...string) string {
	var out []string
	for _, text := range texts {
		s.mu.Lock()
		if s.known[sum(text)] != nil {
			out = append(out, text)
		}
		s.mu.Unlock()
	}
	return strings.Join(out, " ")
}

func TestPinnedContentNeitherGoesNorCounts(t *testing.T) {
	s := open(t, t.TempDir(), 10, 10)
	add(t, s, "pinned")
	if b, err := s.Pin(sum("pinned")); err != nil || b.Size != 6 {
		t.Fatalf("pin: %v, %v", b, err)
	}
	add(t, s, "ten bytes.")
	if got := holds(s, "pinned", "ten bytes."); got != "pinned ten bytes." {
		t.Errorf("in the store: %s", got)
	}
	add(t, s, "ten bytes!")
	if got := holds(s, "pinned", "ten bytes.", "ten bytes!"); got != "pinned ten bytes!" {
		t.Errorf("in the store: %s", got)
	}
	if _, err := s.Pin(sum("never")); !errors.Is(err, ErrUnknown) {
		t.Errorf("pin of what is not there: %v", err)
	}
}

func TestContentGoesAgainWhenItsLastPinIsGone(t *testing.T) {
	s := open(t, t.TempDir(), 10, 10)
	add(t, s, "pinned")
	for range 2 {
		if _, err := s.Pin(sum("pinned")); err != nil {
			t.Fatal(err)
		}
	}
	add(t, s, "ten bytes.")
	if err := s.Unpin(sum("pinned")); err != nil || holds(s, "pinned", "ten bytes.") != "pinned ten bytes." {
		t.Fatalf("one of two pins gone: %s, %v", holds(s, "pinned", "ten bytes."), err)
	}
	if err := s.Unpin(sum("pinned")); err != nil || holds(s, "pinned", "ten bytes.") != "pinned" {
		t.Fatalf("both gone, it is the one used last: %s, %v", holds(s, "pinned", "ten bytes."), err)
	}
	if err := errors.Join(s.Unpin(sum("pinned")), s.Unpin(sum("never"))); err != nil {
		t.Errorf("one too many: %v", err)
	}
	add(t, s, "ten bytes!")
	if got := holds(s, "pinned", "ten bytes!"); got != "ten bytes!" {
		t.Errorf("in the store: %s", got)
	}
}

func TestPinsAreTakenBeforeAStoreThatIsOpenedMakesRoom(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 10, 100)
	for _, text := range []string{"oldest", "middle", "latest"} {
		add(t, s, text)
	}
	s, err := Open(Config{Dir: dir, Largest: 10, Capacity: 10, Pinned: []string{
		sum("oldest"), sum("oldest"), sum("never"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := holds(s, "oldest", "middle", "latest"); got != "oldest latest" {
		t.Errorf("in the store: %s", got)
	}
	if err := s.Unpin(sum("oldest")); err != nil || holds(s, "oldest", "latest") != "oldest latest" {
		t.Errorf("one of two pins gone: %s, %v", holds(s, "oldest", "latest"), err)
	}
}

func TestContentThatIsOpenIsReadToItsEnd(t *testing.T) {
	s := open(t, t.TempDir(), 10, 10)
	add(t, s, "ten bytes.")
	f, b, err := s.File(sum("ten bytes."))
	if err != nil || b.Size != 10 {
		t.Fatal(b, err)
	}
	defer f.Close()
	add(t, s, "ten bytes!")
	if got, err := io.ReadAll(f); err != nil || string(got) != "ten bytes." {
		t.Errorf("read: %q, %v", got, err)
	}
	if _, _, err := s.File(sum("ten bytes.")); !errors.Is(err, ErrUnknown) {
		t.Errorf("open: %v", err)
	}
}

// A store against a list of what it should hold.
func TestPinsAndRoomByAnOracle(t *testing.T) {
	texts := []string{"a", "bb", "ccc", "dddd", "eeeee"}
	rapid.Check(t, func(r *rapid.T) {
		s := open(t, t.TempDir(), 5, 8)
		pins := map[string]int{}
		var order []string // without pins, the least recently used first
		drop := func(text string) {
			for i, o := range order {
				if o == text {
					order = append(order[:i:i], order[i+1:]...)
					return
				}
			}
		}
		shrink := func() {
			size := 0
			for _, o := range order {
				size += len(o)
			}
			for ; size > 8; order = order[1:] {
				size -= len(order[0])
			}
		}
		here := func(text string) bool {
			for _, o := range order {
				if o == text {
					return true
				}
			}
			return pins[text] > 0
		}
		r.Repeat(map[string]func(*rapid.T){
			"add": func(r *rapid.T) {
				text := rapid.SampledFrom(texts).Draw(r, "text")
				add(t, s, text)
				if drop(text); pins[text] == 0 {
					order = append(order, text)
					shrink()
				}
			},
			"pin": func(r *rapid.T) {
				text := rapid.SampledFrom(texts).Draw(r, "text")
				was := here(text)
				if _, err := s.Pin(sum(text)); (err == nil) != was {
					r.Fatalf("pin %s: %v", text, err)
				}
				if drop(text); was {
					pins[text]++
				}
			},
			"unpin": func(r *rapid.T) {
				text := rapid.SampledFrom(texts).Draw(r, "text")
				if err := s.Unpin(sum(text)); err != nil {
					r.Fatal(err)
				}
				if pins[text] == 0 {
					return
				}
				if pins[text]--; pins[text] == 0 {
					order = append(order, text)
					shrink()
				}
			},
			"": func(r *rapid.T) {
				for _, text := range texts {
					if got := holds(s, text) != ""; got != here(text) {
						r.Fatalf("%s in the store: %v, should be %v", text, got, here(text))
					}
				}
			},
		})
	})
}
