package process

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnIncompletePassageIsNeverAccepted(t *testing.T) {
	want := passage{path: "/bin/x", args: []string{"x", "", "a b"}, env: []string{"A=1"}}
	text, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	for n := range text {
		if p, err := readPassage(bytes.NewReader(text[:n])); err == nil {
			t.Errorf("%d of %d bytes were read as %+v", n, len(text), p)
		}
	}
	got, err := readPassage(bytes.NewReader(text))
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(passage{})); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func FuzzReadPassage(f *testing.F) {
	text, err := (&passage{path: "/bin/x", args: []string{"x", "y"}, env: []string{"A=1"}}).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte{1, 0, 0, 0, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := readPassage(bytes.NewReader(text))
		if err != nil {
			return
		}
		again, err := p.encode()
		if err != nil || !bytes.HasPrefix(text, again) {
			t.Errorf("%q was read as %+v, which is written %q, %v", text, p, again, err)
		}
	})
}

func TestSignalKnowsThatTheProgramHasEnded(t *testing.T) {
	g, err := Start(Spec{Args: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	awaitLeader(g.cmd)
	for range 2 {
		if err := g.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("signal after the end: %v", err)
		}
		g.Wait()
	}
}
