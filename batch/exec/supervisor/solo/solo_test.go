package solo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "attempt" {
		syscall.Exit(Run(os.Args[2], os.Stdin, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// attempt returns the file of an attempt, in a directory of its own, and its order.
func attempt(t *testing.T, o Order) (path, order string) {
	t.Helper()
	dir := t.TempDir()
	if o.Stdout == "" {
		o.Stdout = filepath.Join(dir, "out")
	}
	text, err := Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "2-3"), string(text)
}

func state(t *testing.T, path string) journal.State {
	t.Helper()
	s, err := journal.Read(filepath.Dir(path), "2-3")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func output(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "out"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAProgramRunsAndItsEndIsWrittenDown(t *testing.T) {
	t.Setenv("SLURM_JOB_NODELIST", "n[1-2]")
	path, order := attempt(t, Order{Args: []string{"sh", "-c", `echo "$0 $A $DROVER_NODES"; exit 7`, "a  b'"}, Env: []string{"PATH=/usr/bin:/bin", "A=x y"}})
	if code := Run(path, strings.NewReader(order), t.Output()); code != 7 {
		t.Errorf("exit code %d", code)
	}
	s := state(t, path)
	if s.End.Kind != journal.Exited || s.End.Code != 7 || s.Run.Pid != os.Getpid() || s.Claimer.Kind != journal.Supervisor {
		t.Errorf("%+v", s)
	}
	if got := output(t, path); got != "a  b' x y n[1-2]\n" {
		t.Errorf("output %q", got)
	}
}

func TestAnOrderIsOneLine(t *testing.T) {
	text, err := Encode(Order{Args: []string{"a\r\nORDER\n\u2028"}})
	if err != nil || bytes.ContainsAny(text, "\r\n") || text[0] != '{' {
		t.Errorf("%q, %v", text, err)
	}
	if o, err := read(bytes.NewReader(text)); err != nil || o.Args[0] != "a\r\nORDER\n\u2028" {
		t.Errorf("%v, %v", o, err)
	}
}

func TestWhatIsNoOrderIsRefused(t *testing.T) {
	text, err := Encode(Order{Args: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "attempts", "1-1")
	for _, input := range []string{"", "{}", string(text[:9]), strings.Repeat(" ", mostOrder) + string(text)} {
		if code := Run(path, strings.NewReader(input), t.Output()); code != ExitBroken {
			t.Errorf("%.10q of %d bytes: exit code %d", input, len(input), code)
		}
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("it was claimed: %v", err)
	}
}

func TestAnAttemptRunsOnce(t *testing.T) {
	again := filepath.Join(t.TempDir(), "again")
	path, order := attempt(t, Order{Args: []string{"/bin/sh", "-c", "echo again"}, Again: again})
	var said bytes.Buffer
	if code := Run(path, strings.NewReader(order), &said); code != 0 {
		t.Fatalf("exit code %d: %s", code, said.String())
	}
	if left, err := filepath.Glob(again + "*"); err != nil || len(left) > 0 {
		t.Errorf("word of a second start before there was one: %v, %v", left, err)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(path), "out")); err != nil {
		t.Fatal(err)
	}
	if code := Run(path, strings.NewReader(order), &said); code != ExitClaimed || !strings.Contains(said.String(), "claimed before") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "out")); !os.IsNotExist(err) {
		t.Errorf("it has run again: %v", err)
	}
	if left, err := filepath.Glob(again + ".*"); err != nil || len(left) != 1 || !strings.HasPrefix(left[0], again+"."+claimer()) {
		t.Errorf("word of the second start: %v, %v", left, err)
	}
}

func TestAnAttemptThatTheServerHasClaimedDoesNotRun(t *testing.T) {
	again := filepath.Join(t.TempDir(), "again")
	path, order := attempt(t, Order{Args: []string{"/bin/sh", "-c", "echo run"}, Again: again})
	if won, _, err := journal.Claim(filepath.Dir(path), "2-3", journal.Claimer{Kind: journal.Server}, time.Now()); !won || err != nil {
		t.Fatal(won, err)
	}
	if code := Run(path, strings.NewReader(order), t.Output()); code != ExitClaimed {
		t.Errorf("exit code %d", code)
	}
	if left, err := filepath.Glob(again + "*"); err != nil || len(left) > 0 {
		t.Errorf("it was not started before: %v, %v", left, err)
	}
}

func TestWhatCannotBeStartedHasFailed(t *testing.T) {
	path, order := attempt(t, Order{Args: []string{"/nonexistent/program"}})
	if code := Run(path, strings.NewReader(order), t.Output()); code != ExitFailed {
		t.Errorf("exit code %d", code)
	}
	if s := state(t, path); s.End.Kind != journal.Failed || strings.Contains(s.End.Reason, "/nonexistent") {
		t.Errorf("%+v", s.End)
	}
}

func TestSignalsReachTheProgram(t *testing.T) {
	path, order := attempt(t, Order{Args: []string{"/bin/sh", "-c", "echo ready; exec sleep 100"}})
	cmd := exec.CommandContext(t.Context(), os.Args[0], "attempt", path)
	cmd.Stdin = strings.NewReader(order)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(10 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "out"))
		if string(text) == "ready\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is never ready")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
	if s := state(t, path); s.End.Kind != journal.Signaled || s.End.Signal != "SIGTERM" {
		t.Errorf("%+v", s.End)
	}
}

func FuzzOrder(f *testing.F) {
	f.Add([]byte(`{"v":1,"args":["a"],"env":["A=b"],"dir":"/x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if o, err := parse(text); err == nil && (len(o.Args) == 0 || slices.Contains(o.Args[:1], "")) {
			t.Fatalf("%+v", o)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"v":1,"args":["true"]}`))
	f.Add([]byte(`{"v":2,"args":[""]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := parse(text)
		if err != nil {
			return
		}
		again, err := Encode(o)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := parse(again); err != nil || !slices.Equal(p.Args, o.Args) {
			t.Errorf("%v, %v", p, err)
		}
	})
}
