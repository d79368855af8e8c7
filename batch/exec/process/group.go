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
)

// Group is a process group and its leader, a child of this process.
type Group struct {
	cmd *osexec.Cmd

	mu   sync.Mutex
	over bool // the leader has ended: its number may soon be another's
}

// Start makes the directories and files and starts the program as the leader of
// a new process group. Its errors are *StartError.
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

// Signal sends sig to the group while its leader has not ended, and returns
// os.ErrProcessDone afterwards.
func (g *Group) Signal(sig syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over || leaderEnded(g.cmd.Process.Pid) {
		return os.ErrProcessDone
	}
	return syscall.Kill(-g.cmd.Process.Pid, sig)
}

// Wait returns when the leader has ended and the rest of the group, which is
// killed then, is gone. It is called once.
func (g *Group) Wait() Exit {
	pid := g.cmd.Process.Pid
	awaitLeader(g.cmd)
	g.mu.Lock()
	g.over = true
	// The leader is not reaped yet, so that the number is still this group's.
	_ = syscall.Kill(-pid, syscall.SIGKILL) // an error means nobody is left
	g.mu.Unlock()
	_ = g.cmd.Wait() // the state says all that its error would
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

// GoneWait is how long a killed group may take to disappear before its end is
// told all the same: a process in an uninterruptible call to a dead file server
// must not block a site for good.
const GoneWait = 30 * time.Second

// awaitGone waits until nobody of the group is alive, at most for GoneWait.
func awaitGone(pgid int) bool {
	const patience = 16 * time.Millisecond
	deadline := time.Now().Add(GoneWait)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		if errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH) {
			return true
		}
		// Dead processes that nobody reaps count for kill. Looking closer costs
		// more, and is only done when the parent takes its time.
		if pause > patience && onlyDead(pgid) {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}

// ID is who a process is: its number alone may soon be another's.
type ID struct {
	Pid   int
	Start uint64 // clock ticks from boot to its start
	Boot  string // the kernel's name of the boot
}

// GroupFile is the file of a control group that lists its processes, and takes them.
const GroupFile = "cgroup.procs"

// ErrGroup is wrapped by the error of a process that cannot enter its groups.
var ErrGroup = errors.New("control group")

// EnterGroups puts a process into control groups by their files. Its error names no
// path of this host.
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

// put writes into a file of the kernel's, which is never made.
func put(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// StrikeGroups kills whoever is in the groups, once, and reports whether anybody was.
// The group itself is its owner's, and stays.
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
		// Frozen they cannot outrun us; the signal reaches them when they thaw. A
		// hierarchy without a freezer has no such file.
		_ = put(filepath.Join(dir, "freezer.state"), "FROZEN")
		for _, pid := range inGroup(file) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error: it has gone
		}
		_ = put(filepath.Join(dir, "freezer.state"), "THAWED")
	}
	return found
}

// ClearGroups kills until nobody is in the groups, and reports whether somebody is
// left after a long wait.
func ClearGroups(groups []string) (left bool) {
	deadline := time.Now().Add(GoneWait)
	for pause := time.Millisecond; StrikeGroups(groups); pause = min(2*pause, 100*time.Millisecond) {
		if time.Now().After(deadline) {
			return true
		}
		time.Sleep(pause)
	}
	return false
}

// inGroup returns the processes of a group; none where it cannot be read, as when
// it is gone.
func inGroup(file string) (pids []int) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(text)) {
		// 0 is a process that this one's namespace cannot name, and to kill(2) is
		// this one's group.
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}
