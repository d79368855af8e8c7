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

// attempt returns the file of an attempt in a new directory, and its encoded spec.
func attempt(t *testing.T, o Spec) (path, spec string) {
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

func TestRunRecordsTheEndOfItsProgram(t *testing.T) {
	t.Setenv("SLURM_JOB_NODELIST", "n[1-2]")
	path, spec := attempt(t, Spec{
		Args: []string{"sh", "-c", `echo "$0 $A $DROVER_NODES"; exit 7`, "a  b'"},
		Env:  []string{"PATH=/usr/bin:/bin", "A=x y"}, System: System{Nodes: "SLURM_JOB_NODELIST"},
	})
	if code := Run(path, strings.NewReader(spec), t.Output()); code != 7 {
		t.Errorf("exit code %d", code)
	}
	s := state(t, path)
	if s.End.Kind != journal.Exited || s.End.Code != 7 || s.Run.Pid != os.Getpid() ||
		s.Claimer.Kind != journal.Supervisor {
		t.Errorf("%+v", s)
	}
	if got := output(t, path); got != "a  b' x y n[1-2]\n" {
		t.Errorf("output %q", got)
	}
}

func TestASpecIsOneLine(t *testing.T) {
	text, err := Encode(Spec{Args: []string{"a\r\nORDER\n\u2028"}})
	if err != nil || bytes.ContainsAny(text, "\r\n") || text[0] != '{' {
		t.Errorf("%q, %v", text, err)
	}
	if o, err := read(bytes.NewReader(text)); err != nil || o.Args[0] != "a\r\nORDER\n\u2028" {
		t.Errorf("%v, %v", o, err)
	}
}

func TestRunRefusesAMalformedSpec(t *testing.T) {
	text, err := Encode(Spec{Args: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "attempts", "1-1")
	for _, input := range []string{"", "{}", string(text[:9]), strings.Repeat(" ", maxSpec) + string(text)} {
		if code := Run(path, strings.NewReader(input), t.Output()); code != ExitBroken {
			t.Errorf("%.10q of %d bytes: exit code %d", input, len(input), code)
		}
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the attempt was claimed: %v", err)
	}
}

func TestASecondStartRunsNothingAndLeavesANotice(t *testing.T) {
	notices := filepath.Join(t.TempDir(), "notice")
	path, spec := attempt(t, Spec{Args: []string{"/bin/sh", "-c", "echo again"}, Notices: notices})
	var said bytes.Buffer
	if code := Run(path, strings.NewReader(spec), &said); code != 0 {
		t.Fatalf("exit code %d: %s", code, said.String())
	}
	if left, err := filepath.Glob(notices + "*"); err != nil || len(left) > 0 {
		t.Errorf("notice before the second start: %v, %v", left, err)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(path), "out")); err != nil {
		t.Fatal(err)
	}
	if code := Run(path, strings.NewReader(spec), &said); code != ExitClaimed ||
		!strings.Contains(said.String(), "already claimed") {
		t.Errorf("exit code %d: %s", code, said.String())
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "out")); !os.IsNotExist(err) {
		t.Errorf("the program ran again: %v", err)
	}
	if left, err := filepath.Glob(notices + ".*"); err != nil || len(left) != 1 ||
		!strings.HasPrefix(left[0], notices+"."+(&Spec{}).startName()) {
		t.Errorf("notice of the second start: %v, %v", left, err)
	}
}

func TestAnAttemptClaimedByTheServerDoesNotRun(t *testing.T) {
	notices := filepath.Join(t.TempDir(), "notice")
	path, spec := attempt(t, Spec{Args: []string{"/bin/sh", "-c", "echo run"}, Notices: notices})
	server := journal.Claimer{Kind: journal.Server}
	if won, _, err := journal.Claim(filepath.Dir(path), "2-3", server, time.Now()); !won || err != nil {
		t.Fatal(won, err)
	}
	if code := Run(path, strings.NewReader(spec), t.Output()); code != ExitClaimed {
		t.Errorf("exit code %d", code)
	}
	if left, err := filepath.Glob(notices + "*"); err != nil || len(left) > 0 {
		t.Errorf("a notice of a first start: %v, %v", left, err)
	}
}

func TestAProgramThatCannotStartIsRecordedAsFailed(t *testing.T) {
	path, spec := attempt(t, Spec{Args: []string{"/nonexistent/program"}})
	if code := Run(path, strings.NewReader(spec), t.Output()); code != ExitFailed {
		t.Errorf("exit code %d", code)
	}
	if s := state(t, path); s.End.Kind != journal.Failed || s.End.Code != int(syscall.ENOENT) ||
		strings.Contains(s.End.Reason, "/nonexistent") {
		t.Errorf("%+v", s.End)
	}
}

func TestSignalsReachTheProgram(t *testing.T) {
	path, spec := attempt(t, Spec{Args: []string{"/bin/sh", "-c", "echo ready; exec sleep 100"}})
	cmd := exec.CommandContext(t.Context(), os.Args[0], "attempt", path)
	cmd.Stdin = strings.NewReader(spec)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(10 * time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "out"))
		if string(text) == "ready\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the program was not ready in time")
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

func FuzzArguments(f *testing.F) {
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

func TestStopEndsAnAttemptAndLeavesANotice(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		end     journal.EndKind
	}{
		"by SIGTERM":    {"sleep 100", journal.Lost},
		"with an error": {"trap 'exit 9' TERM; sleep 100 & wait", journal.Lost},
		"with success":  {"trap 'exit 0' TERM; sleep 100 & wait", journal.Exited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, spec := attempt(t, Spec{
				Args: []string{"sh", "-c", c.program}, Env: []string{"PATH=/usr/bin:/bin"},
				Notices: filepath.Join(dir, "a"),
			})
			if err := Stop(path); err != nil {
				t.Fatal(err)
			}
			Run(path, strings.NewReader(spec), t.Output())
			if s := state(t, path); s.End.Kind != c.end {
				t.Errorf("%+v", s.End)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 {
				t.Fatalf("%v, %v", left, err)
			}
			if _, by, _ := strings.Cut(left[0].Name(), "."); !Stopped(by) {
				t.Errorf("the notice is %s", left[0].Name())
			}
		})
	}
}
