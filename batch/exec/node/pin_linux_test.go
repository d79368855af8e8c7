package node

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
)

// allowed returns the processors of a process in the kernel's format.
func allowed(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// The same holds after the task was adopted by a host with other processors, or none.
func TestTasksOfAConfinedHostRunOnItsProcessorsOnly(t *testing.T) {
	dir := t.TempDir()
	cfg := config(t, dir)
	cfg.Processors = 1
	h, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if h.cpus == nil {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		t.Skip("another process has the processors, or there are no sets of them: ", h.Offers())
	}
	p := launch(t, h, script(id(1), dir, `exec sleep 1000`))
	if got, want := allowed(t, p.Pid()), strconv.Itoa(h.cpus[0]); got != want {
		t.Errorf("it runs on %s, want %s", got, want)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, cfg)
	task := again.Find(id(1))
	if task == nil {
		t.Fatal("it is not taken over")
	}
	if len(again.cpus) == 1 && allowed(t, p.Pid()) != strconv.Itoa(again.cpus[0]) {
		t.Errorf("it runs on %s, want %v", allowed(t, p.Pid()), again.cpus)
	}
	if err := task.SetCPUs(nil); err != nil {
		t.Fatal(err)
	}
	if got, want := allowed(t, p.Pid()), allowed(t, os.Getpid()); got != want {
		t.Errorf("it runs on %s, want all: %s", got, want)
	}
	_ = task.Signal(syscall.SIGKILL) // it runs
	task.Wait()
	if err := task.SetCPUs(nil); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("of one that has ended: %v", err)
	}
}

func TestPartsOfAHostGetExclusiveProcessorsOrNone(t *testing.T) {
	h := open(t, config(t, t.TempDir()))
	pins, err := h.Pin([]int{1, 0, 1})
	if errors.Is(err, cgroup.ErrTaken) || errors.Is(err, cgroup.ErrNotOffered) {
		t.Skip(err)
	}
	if err != nil || len(pins) != 3 || len(pins[0]) != 1 || len(pins[1]) != 0 || len(pins[2]) != 1 ||
		slices.Equal(pins[0], pins[2]) {
		t.Errorf("%v, %v", pins, err)
	}
	if pins, err := h.Pin([]int{100_000}); !errors.Is(err, cgroup.ErrTaken) {
		t.Errorf("%v, %v", pins, err)
	}
}
