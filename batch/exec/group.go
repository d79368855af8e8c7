package exec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// goneWait is how long a killed group may take to disappear before its capacity
// is given back all the same: a process in an uninterruptible call to a dead
// file server must not block a site for good.
const goneWait = 30 * time.Second

// processes launches real process groups.
type processes struct{ log hclog.Logger }

// Launch makes the directories and files and starts the program as the leader
// of a new process group.
func (p processes) Launch(spec Spec) (Process, error) {
	cmd := osexec.Command(spec.Args[0], spec.Args[1:]...)
	cmd.Env = spec.Env
	cmd.Dir = spec.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if spec.Dir != "" {
		if err := os.MkdirAll(spec.Dir, 0o700); err != nil {
			return nil, p.failed("working directory", err)
		}
	}
	stdout, err := output(spec.Stdout)
	if err != nil {
		return nil, p.failed("standard output", err)
	}
	defer stdout.close()
	stderr, err := output(spec.Stderr)
	if err != nil {
		return nil, p.failed("standard error", err)
	}
	defer stderr.close()
	if stdout.File != nil {
		cmd.Stdout = stdout.File
	}
	if stderr.File != nil {
		cmd.Stderr = stderr.File
	}
	if err := cmd.Start(); err != nil {
		return nil, p.failed("command "+filepath.Base(spec.Args[0]), err)
	}
	return &group{cmd: cmd, log: p.log}, nil
}

// failed logs the whole error and returns one that names no path.
func (p processes) failed(part string, err error) error {
	p.log.Debug("launch failed", "part", part, "error", err)
	var path *fs.PathError
	var look *osexec.Error
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &look):
		err = look.Err
	}
	return fmt.Errorf("%s: %w", part, err)
}

// outputFile is a file or nothing.
type outputFile struct{ *os.File }

func (f outputFile) close() {
	if f.File != nil {
		_ = f.Close() // the child has its own descriptor; nothing was written here
	}
}

func output(name string) (outputFile, error) {
	if name == "" {
		return outputFile{}, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return outputFile{}, err
	}
	// Appending keeps several processes, or both outputs in one file, from
	// overwriting each other.
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	return outputFile{f}, err
}

// group is a process group and its leader.
type group struct {
	cmd *osexec.Cmd
	log hclog.Logger

	mu   sync.Mutex
	over bool // the leader has ended: its number may soon be another's
}

// Signal sends sig to the group while its leader has not ended.
func (g *group) Signal(sig syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over || leaderEnded(g.cmd.Process.Pid) {
		return os.ErrProcessDone
	}
	return syscall.Kill(-g.cmd.Process.Pid, sig)
}

// Wait returns when the leader has ended and the rest of the group, which is
// killed then, is gone.
func (g *group) Wait() Exit {
	pid := g.cmd.Process.Pid
	awaitLeader(g.cmd)
	g.mu.Lock()
	g.over = true
	// The leader is not reaped yet, so that the number is still this group's.
	_ = syscall.Kill(-pid, syscall.SIGKILL) // an error means nobody is left
	g.mu.Unlock()
	_ = g.cmd.Wait() // the state says all that its error would
	if !awaitGone(pid, goneWait) {
		g.log.Error("killed process group does not disappear, giving its processors back", "group", pid, "waited", goneWait)
	}
	status, ok := g.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return Exit{Signal: status.Signal()}
	}
	return Exit{Code: g.cmd.ProcessState.ExitCode()}
}

// awaitGone waits until nobody of the group is alive, at most for limit.
func awaitGone(pgid int, limit time.Duration) bool {
	const patience = 16 * time.Millisecond
	deadline := time.Now().Add(limit)
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
