package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

var (
	one    = Claimer{Supervisor, "one"}
	two    = Claimer{Supervisor, "two"}
	server = Claimer{Kind: Server}
	leader = process.ID{Pid: 7, Start: 9, Boot: "b"}
)

func TestTheCreatorOfTheFileOwnsTheAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		claims []Claimer
		won    []bool
	}{
		"server":                 {[]Claimer{server, one, server}, []bool{true, false, true}},
		"supervisor":             {[]Claimer{one, server, two}, []bool{true, false, false}},
		"the same claimer twice": {[]Claimer{one, one}, []bool{true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "attempts")
			if s, err := Read(dir, "1-1"); err != nil || s != (State{}) {
				t.Errorf("before: %+v, %v", s, err)
			}
			for i, who := range c.claims {
				won, s, err := Claim(dir, "1-1", who, second(5))
				if err != nil || won != c.won[i] || s.Claimer != c.claims[0] {
					t.Errorf("claim %d: won %v, %+v, %v", i, won, s, err)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestOneOfManyClaimersWins(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		var wins sync.Map
		var all sync.WaitGroup
		for _, by := range []string{"a", "b", "c", "d", "e", "f"} {
			all.Go(func() {
				who := Claimer{Supervisor, by}
				won, s, err := Claim(dir, "1-1", who, second(5))
				if err != nil || won != (s.Claimer == who) {
					t.Errorf("%s: won %v, %+v, %v", by, won, s, err)
				}
				if won {
					wins.Store(by, true)
				}
			})
		}
		all.Wait()
		n := 0
		wins.Range(func(any, any) bool { n++; return true })
		if n != 1 {
			t.Fatalf("%d have won", n)
		}
	}
}

func TestAppendContinuesAfterAnIncompleteLine(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "1-1")
	if _, _, err := Claim(dir, "1-1", one, second(5)); err != nil {
		t.Fatal(err)
	}
	tear := func() {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"pid":12,"sta`); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	tear()
	if err := AppendRun(dir, "1-1", leader, second(6)); err != nil {
		t.Fatal(err)
	}
	tear()
	end := End{Kind: Signaled, Signal: "SIGKILL", At: second(7)}
	for range 2 { // a retry after an error writes the same line
		if err := AppendEnd(dir, "1-1", end); err != nil {
			t.Fatal(err)
		}
	}
	if err := AppendEnd(dir, "1-1", End{Kind: Exited, At: second(8)}); err == nil {
		t.Error("another end was taken")
	}
	want := State{Claimer: one, Claimed: second(5), Run: leader, Started: second(6), End: end}
	got, err := Read(dir, "1-1")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestLongReasonsAreCut(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Claim(dir, "1-1", one, second(5)); err != nil {
		t.Fatal(err)
	}
	if err := AppendEnd(dir, "1-1", End{
		Kind: Failed, Reason: string(bytes.Repeat([]byte("x"), 1<<20)), At: second(7),
	}); err != nil {
		t.Fatal(err)
	}
	if s, err := Read(dir, "1-1"); err != nil || len(s.End.Reason) != longestReason {
		t.Errorf("%d bytes, %v", len(s.End.Reason), err)
	}
}

func TestUnreadableFilesAreNamedInErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "1-1"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, _, err := Claim(dir, "1-1", server, second(5)); !errors.As(err, &damaged) ||
		damaged.File != filepath.Join(dir, "1-1") {
		t.Errorf("claim: %v", err)
	}
	if err := AppendEnd(dir, "1-1", End{Kind: Failed}); !errors.As(err, &damaged) {
		t.Errorf("append: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "1-1"), "1-1"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("read below a file: %v", err)
	}
}
