package blobs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

var errBroken = errors.New("the sender has gone")

// breaks is a sender who sends text and is gone then.
func breaks(text string) io.Reader {
	return io.MultiReader(strings.NewReader(text), iotest.ErrReader(errBroken))
}

func wanted(text string, offset int) Want {
	return Want{SHA256: sum(text), Size: int64(len(text)), Offset: int64(offset)}
}

func has(t *testing.T, s *Store, text string, want Progress) {
	t.Helper()
	if got := s.Have(sum(text), int64(len(text))); got != want {
		t.Errorf("of %q: %+v, want %+v", text, got, want)
	}
}

func TestWhatArrivedBeforeABreakNeedNotBeSentAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 100, 1000)
	const text = "all of the words"
	has(t, s, text, Progress{Size: 16})
	if _, err := s.Add(breaks(text[:7]), wanted(text, 0)); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	has(t, s, text, Progress{Have: 7, Size: 16})
	if got := s.Have(sum(text), 0); got != (Progress{Have: 7, Size: 16}) {
		t.Errorf("without a size: %+v", got)
	}
	s = open(t, dir, 100, 1000) // killed and started again
	has(t, s, text, Progress{Have: 7, Size: 16})
	if _, err := s.Add(breaks(text[7:10]), wanted(text, 7)); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	if _, err := s.Add(strings.NewReader(text[11:]), wanted(text, 11)); !errors.As(err, new(*OffsetError)) {
		t.Errorf("behind what there is: %v", err)
	}
	if b, err := s.Add(strings.NewReader(text[9:]), wanted(text, 9)); err != nil || b != (Blob{sum(text), 16}) {
		t.Fatalf("the rest: %v, %v", b, err)
	}
	has(t, s, text, Progress{Complete: true, Have: 16, Size: 16})
	if n := count(t, dir); n != 1 {
		t.Errorf("%d files", n)
	}
	if _, err := s.Add(iotest.ErrReader(errBroken), wanted(text, 0)); err != nil {
		t.Errorf("what is there is sent again: %v", err)
	}
}

func TestAllOfItWithoutItsEndIsCheckedAndTaken(t *testing.T) {
	s := open(t, t.TempDir(), 100, 1000)
	if _, err := s.Add(breaks("abc"), wanted("abc", 0)); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	has(t, s, "abc", Progress{Have: 3, Size: 3})
	if _, err := s.Add(strings.NewReader(""), wanted("abc", 3)); err != nil {
		t.Error(err)
	}
}

func TestAPartIsKeptWhenItsSenderSaysThatMoreFollows(t *testing.T) {
	s := open(t, t.TempDir(), 100, 1000)
	w := wanted("abcdef", 0)
	w.Part = true
	var part *PartError
	if _, err := s.Add(strings.NewReader("abc"), w); !errors.As(err, &part) || part.Have != 3 {
		t.Fatal(err)
	}
	w.Offset = 3
	if b, err := s.Add(strings.NewReader("def"), w); err != nil || b.Size != 6 {
		t.Error(b, err)
	}
}

func TestAWrongRestIsThrownAwayWithItsBeginning(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 100, 1000)
	var mismatch *MismatchError
	for rest, field := range map[string]string{"deX": "sha256", "de": "size_bytes", "defg": "size_bytes"} {
		if _, err := s.Add(breaks("abc"), wanted("abcdef", 0)); !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		if _, err := s.Add(strings.NewReader(rest), wanted("abcdef", 3)); !errors.As(err, &mismatch) ||
			mismatch.Field != field {
			t.Errorf("%s: %v", rest, err)
		}
		has(t, s, "abcdef", Progress{Size: 6})
		if n := count(t, dir); n != 0 {
			t.Errorf("%s: %d files are left", rest, n)
		}
	}
}

func TestASizeThatIsALieMakesAnotherFile(t *testing.T) {
	s := open(t, t.TempDir(), 100, 1000)
	lie := Want{SHA256: sum("abcdef"), Size: 50}
	if _, err := s.Add(breaks("junk"), lie); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	has(t, s, "abcdef", Progress{Size: 6})
	if _, err := s.Add(strings.NewReader("abcdef"), wanted("abcdef", 0)); err != nil {
		t.Error(err)
	}
	lie.Offset = 4
	if b, err := s.Add(iotest.ErrReader(errBroken), lie); !errors.Is(err, errBroken) {
		t.Errorf("content of another size: %v, %v", b, err)
	}
}

// slow is a sender whose pieces come when the test wants.
type slow struct {
	pieces chan string
	asked  chan struct{}
}

func newSlow() *slow {
	return &slow{pieces: make(chan string), asked: make(chan struct{}, 100)}
}

func (s *slow) Read(p []byte) (int, error) {
	s.asked <- struct{}{}
	text, ok := <-s.pieces
	if !ok {
		return 0, io.EOF
	}
	return copy(p, text), nil
}

func TestTwoWhoSendTheSameAtOnceDoNotMix(t *testing.T) {
	s := open(t, t.TempDir(), 100, 1000)
	first, done := newSlow(), make(chan error)
	go func() { _, err := s.Add(first, wanted("abcdef", 0)); done <- err }()
	<-first.asked
	first.pieces <- "abc"
	<-first.asked
	has(t, s, "abcdef", Progress{Have: 3, Size: 6, Arriving: true})
	if _, err := s.Add(strings.NewReader("def"), wanted("abcdef", 3)); !errors.Is(err, ErrArriving) {
		t.Errorf("going on with another's: %v", err)
	}
	if _, err := s.Add(breaks("ab"), wanted("abcdef", 0)); !errors.Is(err, errBroken) {
		t.Errorf("from the beginning: %v", err)
	}
	has(t, s, "abcdef", Progress{Have: 3, Size: 6, Arriving: true})
	if _, err := s.Add(strings.NewReader("abcdef"), wanted("abcdef", 0)); err != nil {
		t.Errorf("the faster one: %v", err)
	}
	first.pieces <- "def"
	close(first.pieces)
	if err := <-done; err != nil {
		t.Errorf("the slower one: %v", err)
	}
	if n := count(t, s.config.Dir); n != 1 {
		t.Errorf("%d files", n)
	}
}

func TestASilentSenderLosesItsPlace(t *testing.T) {
	s := open(t, t.TempDir(), 100, 1000)
	var mu sync.Mutex
	now := time.Now()
	s.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	lost, done := newSlow(), make(chan error)
	go func() { _, err := s.Add(lost, wanted("abcdef", 0)); done <- err }()
	<-lost.asked
	lost.pieces <- "abc"
	<-lost.asked
	mu.Lock()
	now = now.Add(patience)
	mu.Unlock()
	has(t, s, "abcdef", Progress{Have: 3, Size: 6})
	if _, err := s.Add(breaks("d"), wanted("abcdef", 3)); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	lost.pieces <- "XYZ" // after all
	if err := <-done; !errors.Is(err, ErrTaken) {
		t.Errorf("the silent one: %v", err)
	}
	has(t, s, "abcdef", Progress{Have: 4, Size: 6})
	if _, err := s.Add(strings.NewReader("ef"), wanted("abcdef", 4)); err != nil {
		t.Error(err)
	}
}

func TestWhatWaitsForTheRestHasBounds(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1000, 10_000) // room for 1250 bytes
	now := time.Now()
	s.now = func() time.Time { return now }
	text := func(i int) string { return fmt.Sprintf("%1000d", i) }
	half := func(i, n int) {
		t.Helper()
		now = now.Add(time.Second)
		if _, err := s.Add(breaks(text(i)[:n]), wanted(text(i), 0)); !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
	}
	for i := range mostArrivals + 3 {
		half(i, 1)
	}
	if n := count(t, dir); n != mostArrivals {
		t.Errorf("%d files", n)
	}
	has(t, s, text(2), Progress{Size: 1000})
	has(t, s, text(3), Progress{Have: 1, Size: 1000})
	half(100, 700)
	half(101, 700)
	if n := count(t, dir); n != 1 {
		t.Errorf("%d files of 700 bytes and more", n)
	}
	has(t, s, text(101), Progress{Have: 700, Size: 1000})
	now = now.Add(longestHalf)
	if err := s.Tidy(); err != nil {
		t.Error(err)
	}
	if n := count(t, dir); n != 0 {
		t.Errorf("%d old files", n)
	}
}

func TestWhatLiesAboutIsNoArrival(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, 100, 1000)
	for _, name := range []string{
		"x", sum("a"), sum("a") + "-", sum("a") + "-0", sum("a") + "-07", sum("a") + "-2", sum("b") + "-9",
	} {
		text := "abc"
		if strings.HasSuffix(name, "-9") {
			text = ""
		}
		if err := os.WriteFile(filepath.Join(dir, halves, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir, 100, 1000)
	if n := count(t, dir); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

// Whatever breaks, lies, restarts and comes twice: what a store says it has
// completely is what was meant, and what it says it has in part can be gone on with.
func TestContentIsWholeWhateverBreaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "blobs") //nolint:usetesting // rapid's T has none, and each check needs its own
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		config := Config{Dir: dir, Largest: 64, Capacity: 640}
		s, err := Open(config)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{"a", "some words", strings.Repeat("x", 64), "some other words"}
		spoiled := make(map[string]bool) // by somebody who sent what it is not
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			text := rapid.SampledFrom(texts).Draw(t, "text")
			p := s.Have(sum(text), int64(len(text)))
			if p.Have > int64(len(text)) || p.Arriving {
				t.Fatalf("%+v of %q", p, text)
			}
			spoiled[text] = spoiled[text] && p.Have > 0 // else it was dropped, to make room
			switch rapid.SampledFrom([]string{"rest", "part", "junk", "restart"}).Draw(t, "do") {
			case "rest":
				b, err := s.Add(strings.NewReader(text[p.Have:]), wanted(text, int(p.Have)))
				if (err != nil) != (spoiled[text] && !p.Complete) {
					t.Fatalf("the rest of %q from %d: %v, %v (spoiled: %v)", text, p.Have, b, err, spoiled[text])
				}
				spoiled[text] = false
			case "part":
				end := rapid.IntRange(int(p.Have), len(text)).Draw(t, "end")
				if _, err := s.Add(breaks(text[p.Have:end]), wanted(text, int(p.Have))); err == nil != p.Complete {
					t.Fatal(err)
				}
				spoiled[text] = spoiled[text] && p.Have > 0
			case "junk":
				if p.Complete || p.Have == int64(len(text)) {
					continue
				}
				if _, err := s.Add(breaks("?"), wanted(text, int(p.Have))); !errors.Is(err, errBroken) {
					t.Fatal(err)
				}
				spoiled[text] = true
			case "restart":
				if s, err = Open(config); err != nil {
					t.Fatal(err)
				}
			}
			for _, text := range texts {
				if b, err := s.Find(sum(text)); err == nil {
					got, err := os.ReadFile(s.path(b.SHA256))
					if h := sha256.Sum256(got); err != nil || hex.EncodeToString(h[:]) != b.SHA256 ||
						!bytes.Equal(got, []byte(text)) {
						t.Fatalf("%q is kept as %q, %v", got, b.SHA256, err)
					}
				}
			}
		}
	})
}
