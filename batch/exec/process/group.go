package process

import (
	"os"
	osexec "os/exec"
	"sync"
	"syscall"
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
