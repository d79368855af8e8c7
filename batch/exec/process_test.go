package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch"
)

func TestOutcomeHasExitCodeAndSignal(t *testing.T) {
	s := open(t, Config{})
	for _, c := range []struct {
		name string
		run  batch.Program
		want batch.Outcome
	}{
		{"zero", self("exit", "0"), batch.Outcome{End: batch.EndDone}},
		{"three", self("exit", "3"), batch.Outcome{End: batch.EndFailed, ExitCode: 3, Reason: "exit status 3"}},
		{"signal", self("die"), batch.Outcome{End: batch.EndFailed, Signal: "SIGTERM", Reason: "signal SIGTERM"}},
		{
			"missing",
			batch.Program{Args: []string{"/nowhere/no-such-command"}},
			batch.Outcome{End: batch.EndStartFailed, Reason: "command no-such-command: no such file or directory"},
		},
		{
			"not in PATH",
			batch.Program{Args: []string{"no-such-command"}},
			batch.Outcome{
				End: batch.EndStartFailed, Reason: "command no-such-command: executable file not found in $PATH",
			},
		},
		{
			"no directory",
			batch.Program{Args: []string{"true"}, Dir: "/dev/null/x"},
			batch.Outcome{End: batch.EndStartFailed, Reason: "working directory: not a directory"},
		},
		{
			"no output",
			batch.Program{Args: []string{"true"}, Stdout: "/dev/null/x"},
			batch.Outcome{End: batch.EndStartFailed, Reason: "standard output: not a directory"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			do(t, s, submission(c.name, 1, c.run))
			f := await(t, s, c.name, batch.PhaseEnded)
			if diff := cmp.Diff(c.want, f.Outcome); diff != "" {
				t.Error(diff)
			}
			if f.Started.IsZero() || f.Ended.Before(f.Started) {
				t.Errorf("started %v, ended %v", f.Started, f.Ended)
			}
		})
	}
	do(t, s, submission("all", 4, self("exit", "0")))
	await(t, s, "all", batch.PhaseEnded)
	if snap := snapshot(t, s); snap.Free != 4 {
		t.Errorf("%d processors free after all ended, want 4", snap.Free)
	}
}

func TestOutputGoesToPrivateFilesBesideTheProgram(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	run := self("print", "a b", "$HOME", ";", "*")
	run.Dir, run.Stdout, run.Stderr = "work/here", "deep/out", filepath.Join(dir, "err")
	do(t, s, submission("a", 1, run))
	await(t, s, "a", batch.PhaseEnded)
	out := filepath.Join(dir, "work/here/deep/out")
	want := "to stdout a b|$HOME|;|*\n" + filepath.Join(dir, "work/here") + "\n"
	for file, want := range map[string]string{out: want, filepath.Join(dir, "err"): "to stderr\n"} {
		text, err := os.ReadFile(file)
		if err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", file, text, err, want)
		}
		if info, err := os.Stat(file); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", file, info.Mode())
		}
	}
	if info, err := os.Stat(filepath.Dir(out)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v, want 0700", info.Mode(), err)
	}
}

func TestOneFileTakesBothOutputs(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	run := self("print")
	run.Stdout, run.Stderr = "both", "both"
	do(t, s, submission("a", 1, run))
	await(t, s, "a", batch.PhaseEnded)
	text, err := os.ReadFile(filepath.Join(dir, "both"))
	if want := "to stdout \nto stderr\n" + dir + "\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
}

func TestEnvironmentIsMinimalAndContainsTheAllocation(t *testing.T) {
	t.Setenv("SECRET_OF_THE_SERVER", "x")
	t.Setenv("HOME", "/home/drover")
	t.Setenv("PATH", "/usr/bin:/bin")
	t.Setenv("LANG", "C")
	tmp := os.Getenv("TMPDIR")
	t.Setenv("TMPDIR", tmp)
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	run := self("env")
	run.Stdout = "env"
	run.Env["GOMAXPROCS"] = "1"
	run.Env["DROVER_WIDTH"] = "9000"
	cmd := submission("job", 3, run)
	cmd.Job.Shape.Walltime = 89*batch.Second + 1
	do(t, s, cmd)
	f := await(t, s, "job", batch.PhaseEnded)
	if diff := cmp.Diff([]string{"n1", "n2"}, f.Nodes); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"DROVER_JOB_ID=job", "DROVER_NODES=n1:2,n2:1", "DROVER_PROCESSORS=3", "DROVER_WALLTIME=90", "DROVER_WIDTH=3",
		mode + "=env", "GOMAXPROCS=1", "HOME=/home/drover", "LANG=C", "OMP_NUM_THREADS=3",
		"PATH=/usr/bin:/bin", "TMPDIR=" + tmp,
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(string(text)), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestWalltimeKillsTheWholeGroup(t *testing.T) {
	for as, grace := range map[string]batch.Duration{"stubborn": 50 * batch.Millisecond, "polite": batch.Minute} {
		t.Run(as, func(t *testing.T) {
			l := newUntilReady(t)
			s := open(t, Config{Launcher: l, Grace: grace})
			cmd := submission("a", 1, self(as))
			shelf.of(cmd).Env[ready] = l.fifo
			cmd.Job.Shape.Walltime = 100 * batch.Millisecond
			do(t, s, cmd)
			f := await(t, s, "a", batch.PhaseEnded)
			want := batch.Outcome{End: batch.EndKilled, Reason: "walltime of 100ms"}
			if as == "stubborn" {
				want.Signal = "SIGKILL"
			}
			if diff := cmp.Diff(want, f.Outcome); diff != "" {
				t.Error(diff)
			}
			for _, pid := range <-l.pids {
				if alive(pid) {
					t.Errorf("process %d outlived the walltime", pid)
				}
			}
		})
	}
}

func TestStraysAreKilledBeforeTheCapacityIsFreed(t *testing.T) {
	l := newUntilReady(t)
	s := open(t, Config{Launcher: l})
	cmd := submission("a", 4, self("leave"))
	shelf.of(cmd).Env[ready] = l.fifo
	do(t, s, cmd)
	f := await(t, s, "a", batch.PhaseEnded)
	if f.Outcome.End != batch.EndDone {
		t.Errorf("outcome %+v, want done", f.Outcome)
	}
	if pids := <-l.pids; alive(pids[1]) {
		t.Error("the child outlived its job")
	}
}

func TestTermReachesTheWholeGroup(t *testing.T) {
	l := newUntilReady(t)
	s := open(t, Config{Launcher: l, Grace: batch.Hour})
	cmd := submission("a", 1, self("ward"))
	shelf.of(cmd).Env[ready] = l.fifo
	do(t, s, cmd)
	<-l.pids
	do(t, s, order(batch.CmdCancel, "a"))
	f := await(t, s, "a", batch.PhaseEnded)
	if diff := cmp.Diff(batch.Outcome{End: batch.EndCancelled, ExitCode: 7, Reason: "cancelled"},
		f.Outcome); diff != "" {
		t.Error(diff)
	}
}

func TestNodesAreListedOnceWithAllTheirProcessors(t *testing.T) {
	s := &System{names: nodeNames(batch.Processors(3))}
	allocation := []batch.NodeAllocation{
		{Node: 0, Processors: 1}, {Node: 0, Processors: 2, Group: 1}, {Node: 2, Processors: 4},
	}
	if got := s.nodeList(allocation); got != "n1:3,n3:4" {
		t.Errorf("node list %s", got)
	}
	if diff := cmp.Diff([]string{"n1", "n3"}, s.nodesOf(allocation)); diff != "" {
		t.Error(diff)
	}
}
