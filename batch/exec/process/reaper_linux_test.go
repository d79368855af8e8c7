package process

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// start starts a gated program and returns a channel with its end.
func start(t *testing.T, r *Reaper, spec Spec) (*Gated, chan Exit) {
	t.Helper()
	ended := make(chan Exit, 2)
	g, err := r.Start(gate, spec, func(e Exit) { ended <- e })
	if err != nil {
		t.Fatal(err)
	}
	return g, ended
}

func TestAProgramRunsOnlyWhenItsGateIsOpenedAndUnderTheSameIdentity(t *testing.T) {
	if !alone(t) {
		return
	}
	r, dir := newReaper(t), t.TempDir()
	g, ended := start(t, r, Spec{
		Args: sh(`echo "$$ $1 $VAR $(pwd)"; exit 3`, "a b;*"), Env: []string{"VAR=x y"}, Dir: dir,
		Stdout: filepath.Join(dir, "out"),
	})
	before, err := Identify(g.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if alive, err := before.Alive(); !alive || err != nil {
		t.Errorf("at the gate: alive %v, %v", alive, err)
	}
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Exit{Code: 3}, <-ended); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out"))
	if want := strconv.Itoa(g.Pid) + " a b;* x y " + dir + "\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	if alive, err := before.Alive(); alive || err != nil {
		t.Errorf("after its end: alive %v, %v", alive, err)
	}
	if err := r.Signal(g.Pid, syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("signal after the end: %v", err)
	}
}

func TestNoProgramRunsAfterItsGateIsShut(t *testing.T) {
	if !alone(t) {
		return
	}
	r, made := newReaper(t), filepath.Join(t.TempDir(), "made")
	g, ended := start(t, r, Spec{Args: sh(`: > "$1"`, made)})
	g.Shut()
	if diff := cmp.Diff(Exit{Code: exitShut}, <-ended); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the program ran")
	}
}

func TestAKilledGateReportsThatNothingRan(t *testing.T) {
	if !alone(t) {
		return
	}
	r := newReaper(t)
	g, ended := start(t, r, Spec{Args: sh("")})
	if err := r.Signal(g.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Exit{Signal: syscall.SIGKILL}, <-ended); diff != "" {
		t.Error(diff)
	}
	if err := g.Open(); !errors.Is(err, ErrShut) {
		t.Errorf("open: %v", err)
	}
}

func TestExecErrorsContainNoPaths(t *testing.T) {
	if !alone(t) {
		return
	}
	r, dir := newReaper(t), t.TempDir()
	secret := filepath.Join(dir, "not-a-program")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spec    Spec
		atStart bool
		want    string
	}{
		"missing":    {Spec{Args: []string{"/nowhere/no-such"}}, false, "command no-such: no such file or directory"},
		"no program": {Spec{Args: []string{secret}}, false, "command not-a-program: permission denied"},
		"too long": {
			Spec{Args: []string{"/bin/true", strings.Repeat("x", 1<<20)}},
			false,
			"command true: argument list too long",
		},
		"not in PATH": {
			Spec{Args: []string{"no-such-command"}},
			true,
			"command no-such-command: executable file not found in $PATH",
		},
		"NUL": {
			Spec{Args: []string{"/bin/true", "a\x00b"}}, true, `command true: NUL in "a\x00b": invalid argument`,
		},
		"no directory": {
			Spec{Args: []string{"/bin/true"}, Dir: "/dev/null/x"}, true, "working directory: not a directory",
		},
		"no output": {
			Spec{Args: []string{"/bin/true"}, Stdout: "/dev/null/x"}, true, "standard output: not a directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan Exit, 1)
			g, err := r.Start(gate, c.spec, func(e Exit) { ended <- e })
			if c.atStart != (err != nil) {
				t.Fatalf("start: %v", err)
			}
			if err == nil {
				err = g.Open()
				<-ended
			}
			var start *StartError
			if err == nil || err.Error() != c.want || !errors.As(err, &start) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestLongArgumentsGoThroughAGate(t *testing.T) {
	if !alone(t) {
		return
	}
	args := sh(`exit $(( ${#2} / 1000 ))`)
	for range 10 {
		args = append(args, strings.Repeat("x", 100_000))
	}
	g, ended := start(t, newReaper(t), Spec{Args: args})
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	if e := <-ended; e.Code != 100 {
		t.Errorf("%+v", e)
	}
}

func TestTheEndIsReportedWhenTheWholeGroupIsGone(t *testing.T) {
	if !alone(t) {
		return
	}
	r, fifo := newReaper(t), filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// The child becomes an orphan when the leader ends.
	g, ended := start(t, r,
		Spec{
			Args: sh(
				`(trap "" TERM; echo here > "$1"; exec sleep 300) & read x < "$1"; echo $! > "$1.pid"; kill -TERM $$`,
				fifo,
			),
		})
	if err := g.Open(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Exit{Signal: syscall.SIGTERM}, <-ended); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(fifo + ".pid")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readStat(strings.TrimSpace(string(text))); err == nil {
		t.Error("the child still exists or was not reaped")
	}
}
