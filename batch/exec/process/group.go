package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Group is a process group and its leader, a child of this process.
type Group struct {
	cmd *osexec.Cmd

	mu   sync.Mutex
	over bool // the leader has ended: its number may be reused
}

// Start creates the directories and files and starts the program as the leader of a new
// process group. Its errors are *StartError.
func Start(spec Spec) (*Group, error) {
	cmd := osexec.Command(spec.Args[0], spec.Args[1:]...)
	if spec.Path != "" {
		cmd.Path, cmd.Err = spec.Path, nil
	}
	cmd.Env = spec.Env
	cmd.Dir = spec.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := spec.prepare()
	if err != nil {
		return nil, err
	}
	defer out.close()
	if out.stdout != nil {
		cmd.Stdout = out.stdout
	}
	if out.stderr != nil {
		cmd.Stderr = out.stderr
	}
	if err := cmd.Start(); err != nil {
		return nil, command(spec.Args, err)
	}
	return &Group{cmd: cmd}, nil
}

// Signal sends sig to the group while its leader runs, and returns os.ErrProcessDone
// afterwards.
func (g *Group) Signal(sig syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over || leaderEnded(g.cmd.Process.Pid) {
		return os.ErrProcessDone
	}
	return syscall.Kill(-g.cmd.Process.Pid, sig)
}

// Wait returns when the leader has ended, and the rest of the group has been killed and is
// gone. It is called once.
func (g *Group) Wait() Exit {
	pid := g.cmd.Process.Pid
	awaitLeader(g.cmd)
	g.mu.Lock()
	g.over = true
	// The leader is not reaped yet, so the number still belongs to this group.
	_ = syscall.Kill(-pid, syscall.SIGKILL) // an error means that none is left
	g.mu.Unlock()
	_ = g.cmd.Wait() // the state contains all that its error would
	status, ok := g.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok {
		return Exit{Code: g.cmd.ProcessState.ExitCode(), Left: !awaitGone(pid)}
	}
	exit := exitOf(status)
	exit.Left = !awaitGone(pid)
	return exit
}

func exitOf(status syscall.WaitStatus) Exit {
	if status.Signaled() {
		return Exit{Signal: status.Signal()}
	}
	return Exit{Code: status.ExitStatus()}
}

// GoneWait bounds the wait for a killed group to disappear; after it the end is reported
// anyway: a process in an uninterruptible call to a dead file server must not block a site
// forever.
const GoneWait = 30 * time.Second

// newPauses returns the pauses between two looks at processes that are about to disappear.
func newPauses() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: time.Millisecond, Multiplier: 2, MaxInterval: 100 * time.Millisecond,
	}
}

// awaitGone waits until all processes of the group are dead, at most for GoneWait.
func awaitGone(pgid int) bool {
	const patience = 16 * time.Millisecond
	deadline := time.Now().Add(GoneWait)
	pauses := newPauses()
	for {
		if errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH) {
			return true
		}
		// kill also counts zombies. A closer look costs more, and is only taken when the parent
		// does not reap them soon.
		pause := pauses.NextBackOff()
		if pause > patience && onlyDead(pgid) {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}

// ID identifies a process: its number alone can be reused.
type ID struct {
	Pid   int
	Start uint64 // clock ticks from boot to its start
	Boot  string // the kernel's ID of the boot
}

// GroupFile is the file of a control group that lists its processes and accepts new ones.
const GroupFile = "cgroup.procs"

// ErrGroup is wrapped by the error of a process that cannot enter its groups.
var ErrGroup = errors.New("control group")

// EnterGroups puts a process into control groups, given by their GroupFile. Its error is a
// public message.
func EnterGroups(groups []string, pid int) error {
	for _, file := range groups {
		if err := put(file, strconv.Itoa(pid)); err != nil {
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			return fmt.Errorf("%w: %w", ErrGroup, err)
		}
	}
	return nil
}

// put writes to an existing file of the kernel.
func put(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// StrikeGroups kills the processes in the groups, once, and reports whether there were any.
// It does not remove the groups.
func StrikeGroups(groups []string) (found bool) {
	for _, file := range groups {
		dir := filepath.Dir(file)
		if len(inGroup(file)) == 0 {
			continue
		}
		found = true
		if put(filepath.Join(dir, "cgroup.kill"), "1") == nil {
			continue
		}
		// Frozen processes cannot fork faster than they are killed; the signal takes effect
		// when they thaw. A hierarchy without a freezer has no such file.
		_ = put(filepath.Join(dir, "freezer.state"), "FROZEN")
		for _, pid := range inGroup(file) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error means that it has ended
		}
		_ = put(filepath.Join(dir, "freezer.state"), "THAWED")
	}
	return found
}

// ClearGroups kills until the groups are empty, and reports whether processes are left after
// GoneWait.
func ClearGroups(groups []string) (left bool) {
	deadline := time.Now().Add(GoneWait)
	for pauses := newPauses(); StrikeGroups(groups); {
		if time.Now().After(deadline) {
			return true
		}
		time.Sleep(pauses.NextBackOff())
	}
	return false
}

// inGroup returns the processes of a group; none if it cannot be read, for example because it
// is gone.
func inGroup(file string) (pids []int) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(text)) {
		// 0 stands for a process outside this PID namespace; kill(2) would take it for the
		// caller's own group.
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}
