package supervisor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

// waitFor is a FIFO in the working directory. The gates of these tests wait at it before they
// start.
const waitFor = "wait-for"

func waitAtTheGate() {
	if f, err := os.Open(waitFor); err == nil {
		_ = f.Close()
	}
}

// launching is a pending launch.
type launching struct {
	t    *testing.T
	done chan struct{}
	p    *Attempt
	err  error
}

func beginLaunch(t *testing.T, c *Client, s exec.Spec) *launching {
	l := &launching{t: t, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.p, l.err = c.Spawn(t.Context(), s, attempts(c.cfg.Dir))
	}()
	return l
}

// state waits until ok accepts the state in the attempt's file.
func state(t *testing.T, dir string, ok func(journal.State) bool) journal.State {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		s, err := journal.Read(attempts(dir), "1-1")
		if err != nil {
			t.Fatal(err)
		}
		if ok(s) {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("the file says %+v", s)
		}
		wait(t.Context(), time.Millisecond)
	}
}

func claimed(s journal.State) bool { return s.Claimer.Kind != "" }
func started(s journal.State) bool { return s.Run.Pid != 0 }

// lines returns the number of runs of the tests' script.
func lines(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func TestTheSupervisorDiesBeforeTheClaim(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	pid := supervisorPid(t, dir)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	l := beginLaunch(t, c, spec(dir, key("job", 1), `echo x >> "$1"`, filepath.Join(dir, "ran")))
	kill(t, pid)
	<-l.done
	if l.err != nil {
		t.Fatal(l.err)
	}
	if diff := cmp.Diff(exec.Exit{}, l.p.Wait()); diff != "" || lines(t, dir) != 1 {
		t.Errorf("%sran %d times", diff, lines(t, dir))
	}
}

func TestTheSupervisorDiesAfterTheClaim(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	s := spec(dir, key("job", 1), `echo x >> "$1"`, filepath.Join(dir, "ran"))
	s.Stdout = fifo(t, dir, "no-reader") // opening it blocks forever
	l := beginLaunch(t, c, s)
	state(t, dir, claimed)
	kill(t, supervisorPid(t, dir))
	<-l.done
	if l.p != nil || !errors.Is(l.err, exec.ErrNeverRan) || lines(t, dir) != 0 {
		t.Errorf("%v, %v, ran %d times", l.p, l.err, lines(t, dir))
	}
	if st, _, err := c.Attach(t.Context(), key("job", 1), attempts(dir)); st.Condition != attempt.NeverRan ||
		err != nil {
		t.Errorf("%+v, %v", st, err)
	}
}

// The gate has received a part of its program and is slow.
func TestTheSupervisorDiesWhileItOpensTheGate(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	s := spec(dir, key("job", 1), `echo x >> "$1"`, filepath.Join(dir, "ran"))
	for range 3 { // more than a pipe holds
		s.Args = append(s.Args, strings.Repeat("x", 100_000))
	}
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	hold := fifo(t, s.Dir, waitFor)
	l := beginLaunch(t, c, s)
	id := state(t, dir, started).Run
	kill(t, supervisorPid(t, dir))
	<-l.done // the next supervisor found the process at its gate
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if l.err != nil {
		t.Fatal(l.err)
	}
	if e := l.p.Wait(); !e.Lost || e.Reason == "" || lines(t, dir) != 0 {
		t.Errorf("%+v, ran %d times", e, lines(t, dir))
	}
	if ok, err := id.Alive(); ok || err != nil {
		t.Errorf("the gate is alive: %v, %v", ok, err)
	}
	if st, _, err := c.Attach(t.Context(), key("job", 1), attempts(dir)); st.Condition != attempt.Lost || err != nil {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestTheSupervisorDiesWhileTheProgramRuns(t *testing.T) {
	dir := t.TempDir()
	hold, here := fifo(t, dir, "hold"), fifo(t, dir, "here")
	c := connectTo(t, dir)
	p := launch(t, c, spec(dir, key(own(dir), 1), `
		trap "echo y >> $1; exit 0" USR1
		echo here > "$3"; read x < "$2"; echo x >> "$1"; sleep 300 & exit 3`, filepath.Join(dir, "ran"), hold, here))
	read(t, here)
	before := p.Started()
	kill(t, supervisorPid(t, dir))
	// The signal is stored until the next supervisor sends it.
	if err := p.Signal(syscall.SIGWINCH); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(hold, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := p.Wait(); !e.Lost || e.Reason == "" || lines(t, dir) != 1 {
		t.Errorf("%+v, ran %d times", e, lines(t, dir))
	}
	st, _, err := c.Attach(t.Context(), key(own(dir), 1), attempts(dir))
	if st.Condition != attempt.Lost || err != nil || st.Started.Sub(before).Abs() > time.Millisecond ||
		st.Ended.IsZero() {
		t.Errorf("%+v, %v", st, err)
	}
	if left := marked(own(dir) + "/1-1"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestTheNextSupervisorDeliversSignals(t *testing.T) {
	dir := t.TempDir()
	here := fifo(t, dir, "here")
	c := connectTo(t, dir)
	p := launch(t, c,
		spec(dir, key("job", 1), `trap 'echo x >> "$1"; exit 0' TERM; echo here > "$2"; while :; do sleep 0.05; done`,
			filepath.Join(dir, "ran"), here))
	read(t, here)
	kill(t, supervisorPid(t, dir))
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if e := p.Wait(); !e.Lost || lines(t, dir) != 1 {
		t.Errorf("%+v, ran %d times", e, lines(t, dir))
	}
}

func TestASignalToAStoppedSupervisorIsDeliveredLater(t *testing.T) {
	dir := t.TempDir()
	here := fifo(t, dir, "here")
	c := connectTo(t, dir)
	p := launch(t, c, spec(dir, key("job", 1), `trap 'exit 4' TERM; echo here > "$1"; while :; do sleep 0.05; done`,
		here))
	read(t, here)
	pid := supervisorPid(t, dir)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Code: 4}, p.Wait()); diff != "" {
		t.Error(diff)
	}
}

func TestProgramsThatEndWithoutASupervisorAreLostAndTheirGroupKilled(t *testing.T) {
	dir := t.TempDir()
	hold, here := fifo(t, dir, "hold"), fifo(t, dir, "here")
	s := server(t, dir, `sleep 300 & echo $! > "`+here+`"; read x < "`+hold+`"`)
	stray := read(t, here)
	kill(t, s.Process.Pid)
	kill(t, supervisorPid(t, dir))
	_ = s.Wait()
	id := state(t, dir, started).Run
	if err := os.WriteFile(hold, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := id.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !alive(t, stray) {
		t.Fatal("the stray process has ended already: the test proves nothing")
	}
	c := connectTo(t, dir)
	st, p, err := c.Attach(t.Context(), key("job", 1), attempts(dir))
	if st.Condition != attempt.Lost || p != nil || err != nil {
		t.Errorf("%+v, %v, %v", st, p, err)
	}
	if alive(t, stray) {
		t.Error("the stray process outlived its job")
	}
}

func TestAttemptsOfAHostThatRebootedAreLost(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	if _, _, err := journal.Claim(attempts(dir), "1-1", journal.Claimer{Kind: journal.Supervisor, By: "before"},
		time1); err != nil {
		t.Fatal(err)
	}
	me := ownID(t)
	me.Boot = "another"
	if err := journal.AppendRun(attempts(dir), "1-1", me, time1); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		st, _, err := c.Attach(t.Context(), key("job", 1), attempts(dir))
		if st.Condition != attempt.Lost || st.Reason != "the host was restarted" || err != nil {
			t.Errorf("%+v, %v", st, err)
		}
	}
}

// The supervisor is killed repeatedly while jobs are launched and run. Each job runs at most
// once, and its reported end is its real end.
func TestNoDeathOfASupervisorRunsAJobTwiceOrHidesOne(t *testing.T) {
	dir := t.TempDir()
	c := connectTo(t, dir)
	const jobs, workers = 100, 8
	rng := rand.New(rand.NewPCG(1, 2))
	stop, killed := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		defer func() { killed <- n }()
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(rng.IntN(600)) * time.Millisecond):
			}
			if pid, err := peer(dir); err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				n++
			}
		}
	}()
	var all sync.WaitGroup
	next := make(chan int)
	var mu sync.Mutex
	count := map[string]int{}
	for range workers {
		all.Go(func() {
			for i := range next {
				what, ran := oneOfMany(t, c, dir, i)
				mu.Lock()
				count[fmt.Sprintf("%s, ran %d times", what, ran)]++
				mu.Unlock()
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	all.Wait()
	close(stop)
	t.Logf("%d supervisors killed; %v", <-killed, count)
	if count["done, ran 1 times"] == 0 || count["done, ran 1 times"] == jobs {
		t.Error("the supervisor was killed too often, or too rarely, to prove anything")
	}
	for what, n := range count {
		switch what {
		case "done, ran 1 times", "never ran, ran 0 times", "lost, ran 0 times", "lost, ran 1 times":
		default:
			t.Errorf("%d jobs: %s", n, what)
		}
	}
}

// oneOfMany runs a job and returns its reported end and its number of runs.
func oneOfMany(t *testing.T, c *Client, dir string, i int) (what string, ran int) {
	home := filepath.Join(dir, fmt.Sprint(i))
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Error(err)
	}
	k := key(fmt.Sprint(own(dir), "-", i), 1)
	p, err := c.Spawn(t.Context(), spec(home, k, `echo x >> "$1"; sleep 0.0$(($$ % 10))`, filepath.Join(home, "ran")),
		attempts(home))
	switch {
	case errors.Is(err, exec.ErrNeverRan):
		what = "never ran"
	case err != nil:
		what = err.Error()
	default:
		e := p.Wait()
		switch {
		case e.Lost:
			what = "lost"
		case e == exec.Exit{}:
			what = "done"
		default:
			what = fmt.Sprintf("%+v", e)
		}
	}
	if left := marked(string(k.Job) + "/1-1"); len(left) > 0 {
		t.Errorf("job %d is over and has processes: %v", i, left)
	}
	return what, lines(t, home)
}

// smallDisk mounts a small disk on a directory.
func smallDisk(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("drover-test", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no tmpfs here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func fill(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
}

func TestNoProgramRunsOnAFullDiskAndEndsAreKept(t *testing.T) {
	dir := t.TempDir()
	disk := attempts(dir)
	smallDisk(t, disk)
	hold := fifo(t, dir, "hold")
	c := connectTo(t, dir)
	k := key("job", 1)
	p := launch(t, c, spec(dir, k, `read x < "$1"; exit 3`, hold))
	// The next line of its file needs another page.
	file := filepath.Join(disk, "1-1")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line, run, _ := strings.Cut(string(text), "\n")
	line = line[:len(line)-1] + strings.Repeat(" ", 4096-len(text)) + "}\n" + run
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(disk, "ballast"))

	_, err = c.Spawn(t.Context(), spec(dir, key("job", 2), "exit 0"), disk)
	if !errors.Is(err, exec.ErrNeverRan) || !strings.Contains(err.Error(), "claim: no space left on device") {
		t.Errorf("launch: %v", err)
	}
	if err := os.WriteFile(hold, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Code: 3}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if st, _, err := c.Attach(t.Context(), k, disk); st.Condition != attempt.Exited || st.Code != 3 || err != nil {
		t.Errorf("attach: %+v, %v", st, err)
	}
	if s, err := journal.Read(disk, "1-1"); s.End.Kind != 0 || err != nil {
		t.Errorf("the disk was not full: the test proves nothing: %+v, %v", s, err)
	}
	if err := os.Remove(filepath.Join(disk, "ballast")); err != nil {
		t.Fatal(err)
	}
	state(t, dir, func(s journal.State) bool { return s.End.Kind == journal.Exited && s.End.Code == 3 })
	if e := launch(t, c, spec(dir, key("job", 3), "exit 0")).Wait(); e != (exec.Exit{}) {
		t.Errorf("with room again: %+v", e)
	}
}

func TestTheLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	l, err := openLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.file.Close() })
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 3 * largestLog / len(line) {
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{logName, logName + ".1"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() > largestLog || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 || err != nil {
		t.Errorf("%v, %v", left, err)
	}
}
