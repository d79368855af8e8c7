package node

import (
	"context"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/internal/nodetest"
)

// innerGroups holds the group names of a test that is run by another test.
const innerGroups = "NODE_TEST_GROUPS"

// inner runs a test of this binary in a process with the given attributes. It fails if that
// test is skipped.
func inner(t *testing.T, name string, env []string, attr *syscall.SysProcAttr) {
	t.Helper()
	// Users without access to the directory of the binary can use this path too.
	cmd := osexec.Command("/proc/self/exe", "-test.run=^"+name+"$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = "/"
	cmd.SysProcAttr = attr
	text, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("not allowed here: ", err)
	}
	if err != nil || strings.Contains(string(text), "--- SKIP") || !strings.Contains(string(text), "--- PASS: "+name) {
		t.Errorf("%v\n%s", err, text)
	}
}

// Running tasks continue without limits, and calls that set limits return an error.
func TestControllersVanishUnderATaskThatRuns(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("file systems are root's to unmount")
	}
	groups := cgroup.Config{Name: "vanish-" + strconv.Itoa(os.Getpid())}
	inner(t, "TestVanish", []string{innerGroups + "=" + groups.Name},
		&syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS})
	left, err := cgroup.Detect(groups)
	if err != nil {
		t.Fatal(err)
	}
	defer left.Close()
	names, err := left.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		g, err := left.Find(name)
		if err == nil {
			err = errors.Join(g.Kill(context.Background()), g.Remove())
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestControllersVanishUnderATaskThatRuns runs TestVanish in a private mount namespace.
func TestVanish(t *testing.T) {
	name := os.Getenv(innerGroups)
	if name == "" {
		t.Skip("no group names given")
	}
	dir := t.TempDir()
	cfg := config(t, dir)
	cfg.Groups.Name = name
	h := open(t, cfg)
	p := launch(t, h, script(id(1), dir, spin))
	if !h.byGroups() {
		t.Log("nothing can vanish here: ", h.Offers())
		return
	}
	unmount(t)
	if _, err := p.Share(cgroup.Processor / 10); !errors.Is(err, cgroup.ErrVanished) &&
		h.Offers().Of(cgroup.Shares) != cgroup.Duty {
		t.Errorf("share: %v", err)
	}
	if err := p.Signal(syscall.SIGSTOP); !errors.Is(err, cgroup.ErrVanished) {
		t.Errorf("pause: %v", err)
	}
	if _, err := p.Use(); !errors.Is(err, cgroup.ErrVanished) {
		t.Errorf("use: %v", err)
	}
	_, err := h.Launch(t.Context(), script(id(2), dir, `: > "$1"`, filepath.Join(dir, "ran")))
	if !errors.Is(err, exec.ErrNeverRan) || !errors.Is(err, cgroup.ErrVanished) {
		t.Errorf("another task: %v", err)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Errorf("kill: %v", err)
	}
	if diff := cmp.Diff(exec.Exit{Signal: syscall.SIGKILL}, p.Wait()); diff != "" {
		t.Error(diff)
	}
}

// unmount unmounts all hierarchies of control groups.
func unmount(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if before, after, _ := strings.Cut(line, " - "); strings.HasPrefix(after, "cgroup") {
			if err := syscall.Unmount(strings.Fields(before)[4], syscall.MNT_DETACH); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The limits of tasks are tested where no control group can be created: by a user without
// rights.
func TestAUserWithoutRightsLimitsTasksBySignals(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change the user")
	}
	const nobody = 65534
	attr := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	env := []string{innerGroups + "=nobody", "TMPDIR=/tmp"}
	for _, name := range []string{
		"TestWithoutRights", "TestAPausedTaskUsesNoProcessorAndContinues", "TestATaskGetsItsShareAndChangesOfIt",
		"TestATaskLimitedBySignalsIsAdoptedAndKeepsItsShare",
	} {
		inner(t, name, env, attr)
	}
}

// TestAUserWithoutRightsLimitsTasksBySignals runs TestWithoutRights.
func TestWithoutRights(t *testing.T) {
	if os.Getenv(innerGroups) == "" {
		t.Skip("not in the unprivileged child")
	}
	h := open(t, config(t, t.TempDir()))
	for _, o := range h.Offers() {
		want := cgroup.Signals
		if o.Ability == cgroup.Memory || o.Ability == cgroup.Processors {
			want = cgroup.None
		}
		// Without a mount there are no rights.
		if o.Way != want || !strings.Contains(o.Why, "no right") && !strings.Contains(o.Why,
			"read-only") && !strings.Contains(o.Why, "is mounted") {
			t.Errorf("want %s and why: %s", want, o)
		}
	}
	dir := t.TempDir()
	task := script(id(1), dir, "exit 3")
	task.Memory, task.CPUs = 1<<20, []int{0}
	if diff := cmp.Diff(exec.Exit{Code: 3}, launch(t, h, task).Wait()); diff != "" {
		t.Error("with limits that cannot be set: ", diff)
	}
	// A process that forks away cannot be reached, which is documented.
	p := launch(t, h,
		script(id(2), dir,
			`setsid sh -c 'echo $$ > "$1"; exec sleep 300' sh "$1" & until [ -s "$1" ]; do sleep 0.01; done`,
			filepath.Join(dir, "pid")))
	if diff := cmp.Diff(exec.Exit{}, p.Wait()); diff != "" {
		t.Error(diff)
	}
	pid := number(t, filepath.Join(dir, "pid"))
	if !nodetest.Alive(pid) {
		t.Error("the process was killed: update the documentation")
	}
	_ = syscall.Kill(pid, syscall.SIGKILL) // it lives
}
