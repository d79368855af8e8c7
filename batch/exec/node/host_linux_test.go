package node

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

const spin = `while :; do :; done`

var everyAbility = []cgroup.Ability{
	cgroup.Shares, cgroup.Processors, cgroup.Memory, cgroup.Pausing, cgroup.Killing, cgroup.Measuring,
}

func TestATaskLaunchedManyTimesRunsOnce(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	task := script(id(1), dir, `echo x >> "$1"; read x < "$2"; exit 3`, filepath.Join(dir, "ran"),
		filepath.Join(dir, "hold"))
	if err := syscall.Mkfifo(filepath.Join(dir, "hold"), 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := h.Launch(t.Context(), task); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p := launch(t, h, task)
	if err := os.WriteFile(filepath.Join(dir, "hold"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := exec.Exit{Code: 3}
	if diff := cmp.Diff(want, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, launch(t, h, task).Wait()); diff != "" {
		t.Error("after its end: " + diff)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "ran")); string(text) != "x\n" {
		t.Errorf("ran: %q, %v", text, err)
	}
	if names, err := h.groups.List(); len(names) != 0 || err != nil {
		t.Errorf("groups left: %v, %v", names, err)
	}
}

func TestRanksOfAnAttemptAreSeparateTasks(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	var all []*Task
	for rank := range 3 {
		who := id(1)
		who.Rank = int32(rank)
		all = append(all, launch(t, h, script(who, dir, `exit "$1"`, string(rune('0'+rank)))))
	}
	for rank, p := range all {
		if diff := cmp.Diff(exec.Exit{Code: rank}, p.Wait()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAPausedTaskUsesNoProcessorAndContinues(t *testing.T) {
	for name, without := range map[string][]cgroup.Ability{"as the host can": nil, "by signals": everyAbility} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cfg := config(t, dir)
			cfg.Groups.Without = without
			h := open(t, cfg)
			p := launch(t, h, script(id(1), dir, spin))
			until(t, "it runs", func() bool { return cpu(t, p) > 50*time.Millisecond })
			if err := p.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			before := cpu(t, p)
			<-time.After(300 * time.Millisecond) // running, it would use as much
			if used := cpu(t, p) - before; used > 60*time.Millisecond {
				t.Errorf("used %v while paused", used)
			}
			if err := p.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			until(t, "it continues", func() bool { return cpu(t, p) > before+100*time.Millisecond })
			if err := p.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			if err := p.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(exec.Exit{Signal: syscall.SIGKILL}, p.Wait()); diff != "" {
				t.Error(diff)
			}
			if err := p.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("after its end: %v", err)
			}
		})
	}
}

func TestATaskGetsItsShareAndChangesOfIt(t *testing.T) {
	for name, without := range map[string][]cgroup.Ability{"as the host can": nil, "by signals": everyAbility} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cfg := config(t, dir)
			cfg.Groups.Without = without
			h := open(t, cfg)
			task := script(id(1), dir, spin)
			task.CPU = cgroup.Processor / 20
			p := launch(t, h, task)
			most := func(share float64) {
				t.Helper()
				<-time.After(200 * time.Millisecond) // what it had before is spent
				begin, before := time.Now(), cpu(t, p)
				<-time.After(2 * time.Second)
				got := float64(cpu(t, p)-before) / float64(time.Since(begin))
				// Load on the host can reduce its share but never increases it.
				if got > share*1.1+0.02 || got == 0 {
					t.Errorf("got %.3f of a processor, want %.3f", got, share)
				}
			}
			most(0.05)
			if _, err := p.Share(cgroup.Processor / 4); err != nil {
				t.Fatal(err)
			}
			most(0.25)
			var invalid *InvalidError
			if _, err := p.Share(-1); !errors.As(err, &invalid) {
				t.Errorf("negative share: %v", err) // it does not mean "no limit"
			}
		})
	}
}

func TestNoProcessSurvivesATaskThatForksAway(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	if h.Offers().Of(cgroup.Killing) == cgroup.Signals {
		t.Skip("signals reach process groups only: ", h.Offers())
	}
	p := launch(t, h,
		script(id(1), dir,
			`setsid sh -c 'echo $$ > "$1"; exec sleep 300' sh "$1" & until [ -s "$1" ]; do sleep 0.01; done`,
			filepath.Join(dir, "pid")))
	if diff := cmp.Diff(exec.Exit{}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	if pid := number(t, filepath.Join(dir, "pid")); nodetest.Alive(pid) {
		t.Errorf("process %d lives", pid)
	}
}

func TestATaskThatNeedsMoreThanItsMemoryIsKilled(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	if h.Offers().Of(cgroup.Memory) == cgroup.None {
		t.Skip(h.Offers())
	}
	const why = "processes of it that the kernel killed for want of memory: 1"
	for i, c := range []struct {
		script string
		want   exec.Exit
	}{
		{`exec tail /dev/zero`, exec.Exit{Signal: syscall.SIGKILL, Reason: why}},
		{`tail /dev/zero; exit 3`, exec.Exit{Code: 3, Reason: why}},
		{`tail /dev/zero || exit 0`, exec.Exit{}},
		{`kill -9 $$`, exec.Exit{Signal: syscall.SIGKILL}},
	} {
		task := script(id(i+1), dir, c.script)
		task.Memory = 32 << 20
		p := launch(t, h, task)
		got := p.Wait()
		if h.Offers().Of(cgroup.Memory) == cgroup.V2 && i > 0 && i < 3 {
			c.want = exec.Exit{Signal: syscall.SIGKILL, Reason: got.Reason} // the kernel kills the whole group
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.script, diff)
		}
		if st := p.Status(); st.Reason != got.Reason {
			t.Errorf("%s: its status says %q", c.script, st.Reason)
		}
	}
}

func TestBarredTasksNeverRun(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	if won, err := h.Bar(id(1)); !won || err != nil {
		t.Fatal(won, err)
	}
	_, err := h.Launch(t.Context(), script(id(1), dir, `: > "$1"`, filepath.Join(dir, "ran")))
	if !errors.Is(err, exec.ErrNeverRan) || !errors.Is(err, supervisor.ErrBarred) {
		t.Error(err)
	}
	p := launch(t, h, script(id(2), dir, `sleep 300`))
	if won, err := h.Bar(id(2)); won || err != nil {
		t.Errorf("of one that runs: %v, %v", won, err)
	}
	_ = p.Signal(syscall.SIGKILL)
	p.Wait()
	if names, err := h.groups.List(); len(names) != 0 || err != nil {
		t.Errorf("groups left: %v, %v", names, err)
	}
}

func TestATaskOutlivesItsHostAndIsAdopted(t *testing.T) {
	dir := t.TempDir()
	cfg := config(t, dir)
	h, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "hold"), 0o600); err != nil {
		t.Fatal(err)
	}
	task := script(id(1), dir, `read x < "$1"; exit 4`, filepath.Join(dir, "hold"))
	first := launch(t, h, task)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if e := first.Wait(); !e.Detached {
		t.Errorf("%+v", e)
	}
	if _, err := h.Launch(t.Context(), script(id(2), dir, "true")); !errors.Is(err, supervisor.ErrClosed) {
		t.Errorf("launch on a closed host: %v", err)
	}
	h = open(t, cfg)
	st, p, err := h.Attach(t.Context(), id(1))
	if err != nil || st.Condition != attempt.Running || p.Pid() != first.Pid() {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "hold"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exec.Exit{Code: 4}, p.Wait()); diff != "" {
		t.Error(diff)
	}
}

func TestUnownedProcessesAreKilledBeforeAHostIsOpen(t *testing.T) {
	dir := t.TempDir()
	cfg := config(t, dir)
	groups, err := cgroup.Detect(cfg.Groups)
	if err != nil {
		t.Fatal(err)
	}
	defer groups.Close()
	var pids []int
	for _, name := range []string{id(7).group(), "whatever"} {
		g, err := groups.Make(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Procs()) == 0 {
			t.Skip("no control groups here: ", groups.Offers())
		}
		cmd := osexec.Command("sleep", "300")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { _ = cmd.Wait() }()
		pids = append(pids, cmd.Process.Pid)
		if err := g.Add(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		if err := g.Freeze(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	h := open(t, cfg)
	for _, pid := range pids {
		if nodetest.Alive(pid) {
			t.Errorf("process %d lives", pid)
		}
	}
	if names, err := h.groups.List(); len(names) != 0 || err != nil {
		t.Errorf("groups left: %v, %v", names, err)
	}
}

func TestADirectoryHasOneHost(t *testing.T) {
	dir := t.TempDir()
	open(t, config(t, dir))
	if _, err := Open(t.Context(), config(t, dir)); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
}

func TestFilesOfOldJobsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	launch(t, h, script(id(1), dir, "true")).Wait()
	p := launch(t, h, TaskSpec{ID: ID{Key: id(1).Key, Rank: 1}, Spec: script(id(1), dir, "sleep 300").Spec})
	if err := h.Sweep(time.Now().Add(horizon - time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.dir(id(1))); err != nil {
		t.Error("too early: ", err)
	}
	if err := h.Sweep(time.Now().Add(horizon + time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.dir(id(1))); !errors.Is(err, os.ErrNotExist) {
		t.Error("still there: ", err)
	}
	if _, err := os.Stat(h.dir(p.ID())); err != nil {
		t.Error("of one that runs: ", err)
	}
	// The directory of a job whose removal was interrupted by a kill of the host.
	if err := os.Mkdir(filepath.Join(h.attempts(), "job.2"+buried), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.Sweep(time.Now().Add(horizon + time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(h.attempts()); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestInvalidTasksAreRefused(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	for name, change := range map[string]func(*TaskSpec){
		"job: ":        func(k *TaskSpec) { k.ID.Key.Job = "../x" },
		"rank: ":       func(k *TaskSpec) { k.ID.Rank = -1 },
		"arguments: ":  func(k *TaskSpec) { k.Spec.Args = nil },
		"cpu: ":        func(k *TaskSpec) { k.CPU = -1 },
		"processors: ": func(k *TaskSpec) { k.CPUs = []int{0, -2} },
		"memory: ":     func(k *TaskSpec) { k.Memory = -1 },
	} {
		task := script(id(1), dir, "true")
		change(&task)
		_, err := h.Launch(t.Context(), task)
		var invalid *InvalidError
		if !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s%v", name, err)
		}
	}
}

func TestATaskWithoutItsGroupNeverRuns(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	if h.Offers().Of(cgroup.Processors) == cgroup.None {
		t.Skip(h.Offers())
	}
	task := script(id(1), dir, `: > "$1"`, filepath.Join(dir, "ran"))
	task.CPUs = []int{4095} // no host of these tests has it
	_, err := h.Launch(t.Context(), task)
	if !errors.Is(err, exec.ErrNeverRan) || strings.Contains(err.Error(), "/") {
		t.Error(err)
	}
	task.CPUs = nil
	if _, err := h.Launch(t.Context(), task); !errors.Is(err, supervisor.ErrBarred) {
		t.Errorf("asked again: %v", err)
	}
}
