package pool_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
	"github.com/seed-9b8f70bb/drover/batch/exec/node/pool"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// here returns a pool of two virtual nodes of this host with the given processors.
func here(t *testing.T, pins [][]int) (*pool.Pool, *node.Host) {
	t.Helper()
	dir := t.TempDir()
	h, err := node.Open(t.Context(),
		node.Config{
			Dir: dir, Groups: cgroup.Config{
				Name: "here-" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(dir), StepAside: true,
			},
		})
	if err != nil {
		t.Fatal(err)
	}
	near := pool.Local(h, 0, pins)
	p, err := pool.New(pool.Config{Names: []string{"a", "b"}, Nodes: []pool.Node{near, near}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, proc := range h.Running() {
			_ = proc.Signal(syscall.SIGKILL) // it has ended, or does now
			proc.Wait()
		}
		p.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if err := supervisor.Dismiss(context.Background(), dir, true); err != nil {
			t.Error(err)
		}
	})
	return p, h
}

// runsOn returns the processors of a process in the kernel's format; "" if it has ended, as
// the gate before the program can have.
func runsOn(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// The same holds for the processes that a task has started or starts later.
func TestATaskRunsOnTheProcessorsOfItsNodesAndMovesWithThem(t *testing.T) {
	all := runsOn(os.Getpid())
	if all != "0-1" && !strings.HasPrefix(all, "0-") {
		t.Skip("not two processors in a row: ", all)
	}
	p, h := here(t, [][]int{{0}, {1}})
	if h.Offers().Of(cgroup.Processors) == cgroup.None {
		t.Skip(h.Offers())
	}
	var proc exec.Launched
	eventually(t, "it runs", func() bool {
		var err error
		proc, err = p.Launch(script(t.TempDir(), "j", batch.LaunchOnce, `sleep 1000 & wait`, on(1, 1)))
		return err == nil
	})
	task := h.Find(node.ID{Key: key("j")})
	wants := func(want string) {
		t.Helper()
		eventually(t, "it and its child run on "+want, func() bool {
			pid := strconv.Itoa(task.Pid())
			text, err := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
			child, none := strconv.Atoi(strings.TrimSpace(string(text)))
			return err == nil && none == nil && runsOn(task.Pid()) == want && runsOn(child) == want
		})
	}
	wants("1")
	sharer, _ := proc.(exec.Sharer)
	for _, move := range []struct {
		allocation []batch.NodeAllocation
		want       string
	}{
		{[]batch.NodeAllocation{on(0, 1)}, "0"},
		{[]batch.NodeAllocation{on(0, 1), on(1, 1)}, "0-1"},
		{[]batch.NodeAllocation{on(1, 1)}, "1"},
	} {
		if err := sharer.SetShares(move.allocation); err != nil {
			t.Fatal(err)
		}
		wants(move.want)
	}
}

func TestATaskOfNodesWithoutPinsRunsAnywhere(t *testing.T) {
	p, h := here(t, nil)
	eventually(t, "it runs", func() bool {
		_, err := p.Launch(script(t.TempDir(), "j", batch.LaunchOnce, `exec sleep 1000`, on(1, 1)))
		return err == nil
	})
	if got, want := runsOn(h.Find(node.ID{Key: key("j")}).Pid()), runsOn(os.Getpid()); got != want {
		t.Errorf("on %s, want %s", got, want)
	}
}
