package node

import (
	"errors"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

// elsewhere creates a group in each hierarchy in which a host can start, and returns its
// path.
func elsewhere(t *testing.T) string {
	t.Helper()
	name := testName(t.TempDir())
	outer, err := cgroup.Detect(cgroup.Config{Name: "outer-" + name, Parent: "/"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := outer.Make("session")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(g.Remove(), outer.Close()); err != nil {
			t.Error(err)
		}
	})
	if outer.Offers().Of(cgroup.Killing) == cgroup.Signals {
		t.Skip("no control groups here: ", outer.Offers())
	}
	return "/drover-outer-" + name + "/g-session"
}

// A server can be started from one login session and restarted from another.
func TestAHostInAnotherGroupFindsTheGroupsOfItsPredecessor(t *testing.T) {
	dir := t.TempDir()
	cfg := config(t, dir)
	cfg.Groups.Parent = elsewhere(t)
	h, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	task := script(id(1), dir, spin)
	task.CPU = cgroup.Processor / 4
	launch(t, h, task)
	left := osexec.Command("sleep", "300")
	left.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	defer left.Wait() //nolint:errcheck // it is killed
	g, err := h.groups.Make(id(7).group())
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Add(left.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}

	cfg.Groups.Parent = ""
	again := open(t, cfg)
	if nodetest.Alive(left.Process.Pid) {
		t.Error("an unowned process lives")
	}
	p := again.Find(id(1))
	if p == nil {
		t.Fatal("the task is not taken over")
	}
	if u, err := p.Use(); err != nil || u.Processes == 0 {
		t.Errorf("measured: %+v, %v", u, err)
	}
	if _, err := p.Share(cgroup.Processor / 20); err != nil {
		t.Fatal(err)
	}
	<-time.After(200 * time.Millisecond) // what it had before is spent
	begin, before := time.Now(), cpu(t, p)
	<-time.After(time.Second)
	if got := float64(cpu(t, p)-before) / float64(time.Since(begin)); got > 0.08 {
		t.Errorf("got %.3f of a processor, want 0.05", got)
	}
}

// The predecessor was killed while it held the task stopped. Only the predecessor knew the
// processes.
func TestATaskLimitedBySignalsIsAdoptedAndKeepsItsShare(t *testing.T) {
	dir := t.TempDir()
	cfg := config(t, dir)
	cfg.Groups.Without = everyAbility
	h, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	first := launch(t, h, script(id(1), dir, spin))
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-first.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, p, err := open(t, cfg).Attach(t.Context(), id(1))
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	until(t, "it continues", func() bool { return cpu(t, p) > 50*time.Millisecond })
	if _, err := p.Share(cgroup.Processor / 10); err != nil {
		t.Fatal(err)
	}
	<-time.After(200 * time.Millisecond) // what it had before is spent
	begin, before := time.Now(), cpu(t, p)
	<-time.After(time.Second)
	if got := float64(cpu(t, p)-before) / float64(time.Since(begin)); got > 0.15 {
		t.Errorf("got %.3f of a processor, want 0.1", got)
	}
}

func TestADamagedRecordOfGroupsIsAnError(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"", "{", `{"v":2}`, "\x00"} {
		if err := os.WriteFile(filepath.Join(dir, groupsName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := Open(t.Context(), config(t, dir))
		if err == nil {
			err = errors.Join(errors.New("it is open"), h.Close())
		}
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An invalid launch of a running attempt does not end the attempt.
func TestARefusedLaunchEndsNoRunningTask(t *testing.T) {
	dir := t.TempDir()
	h := open(t, config(t, dir))
	if h.Offers().Of(cgroup.Processors) == cgroup.None {
		t.Skip(h.Offers())
	}
	task := script(id(1), dir, "exec sleep 1000")
	p := launch(t, h, task)
	p.Detach()
	until(t, "it has no follower", func() bool { return h.Find(id(1)) == nil })
	task.CPUs = []int{4095} // no host of these tests has it
	if _, err := h.Launch(t.Context(), task); errors.Is(err, exec.ErrNeverRan) {
		t.Error(err)
	}
	if !nodetest.Alive(p.Pid()) {
		t.Error("it was killed")
	}
	_, again, err := h.Attach(t.Context(), id(1))
	if err != nil || again == nil {
		t.Fatal(again, err)
	}
	if err := again.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	again.Wait()
}
