package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// readyFD is where a supervisor that is started here says what became of it.
const readyFD = "3"

// spawn starts a supervisor and waits until it can be dialled. ErrBusy says that
// another one has the directory.
func (c *Client) spawn(ctx context.Context) error {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start a supervisor: %w", err)
	}
	defer ours.Close()
	err = c.start(theirs)
	if err := errors.Join(err, theirs.Close()); err != nil {
		return fmt.Errorf("start a supervisor: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = ours.Close() })
	defer stop()
	text, err := bufio.NewReader(io.LimitReader(ours, 4096)).ReadString('\n')
	text = strings.TrimSpace(text)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case text == "ready":
		c.log.Info("started a supervisor")
		return nil
	case text == "busy":
		return ErrBusy
	case text != "":
		return errors.New(strings.TrimPrefix(text, "error: "))
	}
	return fmt.Errorf("%w: it ended before it was ready, see %s (%w)", rpc.ErrGone, filepath.Join(c.cfg.Dir, logName), err)
}

// start makes the process: in a session of its own, so that it does not hear
// what this one's terminal says, and with nothing of this one's open.
func (c *Client) start(ready *os.File) error {
	log, err := os.OpenFile(filepath.Join(c.cfg.Dir, logName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	program := slices.Clone(c.cfg.Program)
	if filepath.Base(program[0]) != program[0] { // it starts elsewhere
		if program[0], err = filepath.Abs(program[0]); err != nil {
			return err
		}
	}
	args := append(program[1:], "--dir", c.cfg.Dir, "--ready-fd", readyFD)
	// It is to outlive this process, and no context ends it.
	if c.cfg.Leased {
		args = append(args, "--leased")
	}
	cmd := osexec.Command(program[0], args...) //nolint:noctx // see above
	cmd.Args[0] = "drover"                     // who looks for it will look for that
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{ready}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.mu.Lock()
	c.children = append(c.children, cmd.Process.Pid)
	c.mu.Unlock()
	return cmd.Process.Release() // reaped by its number
}

// reap collects supervisors that were started here and have ended.
func (c *Client) reap() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.children = slices.DeleteFunc(c.children, func(pid int) bool {
		got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		return got == pid || err != nil && !errors.Is(err, syscall.EINTR)
	})
}
