package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

func TestLaunchReportsHowProgramsEnd(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	for i, tc := range []struct {
		script string
		want   exec.Exit
	}{
		{"exit 0", exec.Exit{}},
		{"exit 3", exec.Exit{Code: 3}},
		{"kill -TERM $$", exec.Exit{Signal: syscall.SIGTERM}},
		{"kill -35 $$", exec.Exit{Signal: 35}},
	} {
		p := launch(t, c, spec(dir, key("job", i), tc.script))
		if diff := cmp.Diff(tc.want, p.Wait()); diff != "" {
			t.Errorf("%s: %s", tc.script, diff)
		}
		if err := p.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("signal after the end: %v", err)
		}
		// The file and a repeated launch return the same end.
		again := launch(t, c, spec(dir, key("job", i), tc.script))
		if diff := cmp.Diff(tc.want, again.Wait()); diff != "" {
			t.Errorf("%s again: %s", tc.script, diff)
		}
		if again.Started() != p.Started().Truncate(1000) {
			t.Errorf("started %v, and by the file %v", p.Started(), again.Started())
		}
	}
}

func TestProgramsGetArgumentsEnvironmentAndFilesUnchanged(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	s := spec(dir, key("job", 1), `printf '%s|' "$@"; echo "$VAR|$(pwd)|$DROVER_ATTEMPT"; echo oops >&2; cat`, "a b",
		"$HOME;*", "\xff", "")
	s.Env = append(s.Env, "VAR=\xfe x")
	if e := launch(t, c, s).Wait(); e.Code != 0 {
		t.Errorf("%+v", e)
	}
	for file, want := range map[string]string{
		"out": "a b|$HOME;*|\xff||\xfe x|" + filepath.Join(dir, "work") + "|job/1-1\n", "err": "oops\n",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || string(text) != want {
			t.Errorf("%s: %q, %v, want %q", file, text, err, want)
		}
		if info, err := os.Stat(filepath.Join(dir, file)); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
}

func TestFailedStartsContainNoPaths(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	for i, tc := range []struct {
		change func(*exec.Spec)
		want   string
	}{
		{func(s *exec.Spec) {
			s.Args = []string{"no-such-command"}
		}, "command no-such-command: executable file not found in $PATH"},
		{func(s *exec.Spec) { s.Args = []string{"/nowhere/no-such"} }, "command no-such: no such file or directory"},
		{func(s *exec.Spec) { s.Args = []string{dir} }, "command " + filepath.Base(dir) + ": permission denied"},
		{func(s *exec.Spec) { s.Dir = "/dev/null/x" }, "working directory: not a directory"},
		{func(s *exec.Spec) { s.Stderr = "/dev/null/x" }, "standard error: not a directory"},
		{func(s *exec.Spec) { s.Args = append(s.Args, "a\x00b") }, `command sh: NUL in "a\x00b": invalid argument`},
	} {
		s := spec(dir, key("job", i), "exit 0")
		tc.change(&s)
		for _, again := range []string{"", " again"} {
			p, err := c.Spawn(t.Context(), s, attempts(dir))
			if p != nil || err == nil || err.Error() != tc.want || errors.Is(err, exec.ErrNeverRan) {
				t.Errorf("launch%s: %v, want %s", again, err, tc.want)
			}
		}
	}
}

func TestTheServersClaimKeepsAnAttemptFromRunning(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	if _, _, err := journal.Claim(attempts(dir), "1-1", journal.Claimer{Kind: journal.Server}, time1); err != nil {
		t.Fatal(err)
	}
	_, err := c.Spawn(t.Context(), spec(dir, key("job", 1), "exit 0"), attempts(dir))
	if !errors.Is(err, ErrBarred) || !errors.Is(err, exec.ErrNeverRan) {
		t.Errorf("launch: %v", err)
	}
	if st, p, err := c.Attach(t.Context(), key("job", 1), attempts(dir)); st.Condition != attempt.Barred || p != nil ||
		err != nil {
		t.Errorf("attach: %+v, %v, %v", st, p, err)
	}
	if st, p, err := c.Attach(t.Context(), key("job", 2), attempts(dir)); st.Condition != attempt.Unclaimed ||
		p != nil || err != nil {
		t.Errorf("attach to an unclaimed attempt: %+v, %v, %v", st, p, err)
	}
}

func TestADamagedAttemptFileIsLostAndNothingRuns(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	if err := errors.Join(os.Mkdir(attempts(dir), 0o700), os.WriteFile(filepath.Join(attempts(dir), "1-1"),
		[]byte("x\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := launch(t, c, spec(dir, key("job", 1), "exit 0"))
	if e := p.Wait(); !e.Lost {
		t.Errorf("%+v", e)
	}
	st, p, err := c.Attach(t.Context(), key("job", 1), attempts(dir))
	if err != nil || p != nil || st.Condition != attempt.Lost || !strings.Contains(st.Reason, "damaged") {
		t.Errorf("attach: %+v, %v, %v", st, p, err)
	}
}

func TestJobsOutliveTheServerThatIsKilled(t *testing.T) {
	dir := t.TempDir()
	hold, here := fifo(t, dir, "hold"), fifo(t, dir, "here")
	s := server(t, dir, `echo $$ > "`+here+`"; read x < "`+hold+`"; exit 5`, `exit 6`)
	pid := read(t, here)
	supervised := supervisorPid(t, dir)
	kill(t, -s.Process.Pid) // with its process group
	_ = s.Wait()
	if !alive(t, pid) {
		t.Fatal("the job died with the server")
	}
	c := connectTo(t, dir)
	if now := supervisorPid(t, dir); now != supervised {
		t.Errorf("supervisor %d, was %d", now, supervised)
	}
	st, p, err := c.Attach(t.Context(), key("job", 1), attempts(dir))
	if err != nil || st.Condition != attempt.Running || st.Started.IsZero() {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := os.WriteFile(hold, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Code: 5}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if st, _, err := c.Attach(t.Context(), key("job", 2), attempts(dir)); st.Condition != attempt.Exited ||
		st.Code != 6 || err != nil {
		t.Errorf("the other one: %+v, %v", st, err)
	}
}

func TestSignalsReachTheWholeGroupAndStraysAreKilled(t *testing.T) {
	dir := t.TempDir()
	here := fifo(t, dir, "here")
	c := connectTo(t, dir)
	p := launch(t, c, spec(dir, key(own(dir), 1), `
		(trap "" TERM; echo $$ > "$1"; exec sleep 300) &
		trap "exit 9" TERM; wait`, here))
	if pid := read(t, here); !alive(t, pid) || len(marked(own(dir)+"/1-1")) != 2 {
		t.Errorf("child %s and %v run", pid, marked(own(dir)+"/1-1"))
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Code: 9}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if left := marked(own(dir) + "/1-1"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestDetachLeavesTheProgramRunning(t *testing.T) {
	dir := t.TempDir()
	hold := fifo(t, dir, "hold")
	c := connectTo(t, dir)
	k := key("job", 1)
	p := launch(t, c, spec(dir, k, `read x < "$1"`, hold))
	var _ exec.Detacher = p
	p.Detach()
	p.Detach()
	if diff := cmp.Diff(exec.Exit{Detached: true}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	_, p, err := c.Attach(t.Context(), k, attempts(dir))
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	if _, err := c.Spawn(t.Context(), spec(dir, k, ""), attempts(dir)); err == nil {
		t.Error("two follow one attempt")
	}
	c.Close()
	if diff := cmp.Diff(exec.Exit{Detached: true}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Spawn(t.Context(), spec(dir, key("job", 2), ""), attempts(dir)); !errors.Is(err, ErrClosed) ||
		!errors.Is(err, exec.ErrNeverRan) {
		t.Errorf("launch by a closed client: %v", err)
	}
	c = connectTo(t, dir)
	if _, p, err = c.Attach(t.Context(), k, attempts(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hold, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{}, p.Wait()); diff != "" {
		t.Error(diff)
	}
}

func TestASecondSupervisorEndsWithAClearMessage(t *testing.T) {
	dir := t.TempDir()
	connectTo(t, dir)
	err := Serve(t.Context(), ServeConfig{Dir: dir, Patience: 1})
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "another supervisor holds this data directory") {
		t.Error(err)
	}
}

func TestASupervisorThatCannotStartReportsWhy(t *testing.T) {
	dir := t.TempDir()
	if _, err := Connect(Config{Dir: filepath.Join(dir, "missing")}); err == nil {
		t.Error("no error without a directory")
	}
	if _, err := Connect(Config{Dir: dir, Program: []string{"/nowhere/drover"}}); err == nil {
		t.Error("no error without a program")
	}
	if err := os.Mkdir(filepath.Join(dir, socketName), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, socketName, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Connect(Config{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "listen in the data directory") {
		t.Errorf("socket taken by a directory: %v", err)
	}
}

func TestPathsLongerThanASocketsAddressWork(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	c := connectTo(t, dir)
	if diff := cmp.Diff(exec.Exit{Code: 4}, launch(t, c, spec(dir, key("job", 1), "exit 4")).Wait()); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(dir, socketName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v", info, err)
	}
}

func TestTermEndsASupervisorOnlyWithoutPrograms(t *testing.T) {
	dir := t.TempDir()
	hold, here := fifo(t, dir, "hold"), fifo(t, dir, "here")
	c := connectTo(t, dir)
	p := launch(t, c, spec(dir, key("job", 1), `echo x > "$2"; read x < "$1"; exit 2`, hold, here))
	read(t, here)
	pid := supervisorPid(t, dir)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hold, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Code: 2}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	// It ends although a client is connected. The client starts another supervisor.
	if diff := cmp.Diff(exec.Exit{Code: 3}, launch(t, c, spec(dir, key("job", 2), "exit 3")).Wait()); diff != "" {
		t.Error(diff)
	}
}

func TestAnAbandonedLaunchIsDetached(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	pid := supervisorPid(t, dir)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, err := c.Spawn(ctx, spec(dir, key("job", 1), "exit 3"), attempts(dir))
	if err != nil || !p.Wait().Detached {
		t.Errorf("%v, %v", p, err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// marked returns the living processes of an attempt.
func marked(mark string) []string {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	var left []string
	for _, name := range all {
		text, err := os.ReadFile(name) // fails for a dead process
		if err == nil && slices.Contains(strings.Split(string(text), "\x00"), "DROVER_ATTEMPT="+mark) {
			left = append(left, name)
		}
	}
	return left
}

func TestADismissedSupervisorEndsWithItsPrograms(t *testing.T) {
	for name, kill := range map[string]bool{"by themselves": false, "at once": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			hold, here := fifo(t, dir, "hold"), fifo(t, dir, "here")
			c := connectTo(t, dir)
			p := launch(t, c, spec(dir, key("job", 1), `echo x > "$2"; read x < "$1"; exit 2`, hold, here))
			read(t, here)
			id, err := process.Identify(supervisorPid(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			dismissed := make(chan error, 1)
			go func() { dismissed <- Dismiss(t.Context(), dir, kill) }()
			want := exec.Exit{Code: 2}
			if kill {
				want = exec.Exit{Signal: syscall.SIGKILL}
			} else if err := os.WriteFile(hold, []byte("go\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, p.Wait()); diff != "" {
				t.Error(diff)
			}
			if err := <-dismissed; err != nil {
				t.Error(err)
			}
			if err := id.Await(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDismissWithoutASupervisorDoesNothing(t *testing.T) {
	if err := Dismiss(t.Context(), t.TempDir(), true); err != nil {
		t.Error(err)
	}
}
