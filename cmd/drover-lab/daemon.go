package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
	"github.com/seed-9b8f70bb/drover/internal/daemon"
)

// How long an agent or a server can take to start and to stop.
const (
	daemonStart = 30 * time.Second
	daemonStop  = 20 * time.Second
)

// droverFlag is the flag of the commands that start agents and servers.
type droverFlag struct {
	Drover string `placeholder:"PATH" help:"The program drover. Default: the one beside this program, else the one in PATH."`
}

// program returns the path of drover.
func (f *droverFlag) program() (string, error) {
	if f.Drover != "" {
		return f.Drover, nil
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "drover")
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath("drover")
	if err != nil {
		return "", &cmdline.UsageError{
			Message: fmt.Sprintf("drover is needed: %v", err),
			Hint:    "go build ./cmd/drover, then --drover PATH",
		}
	}
	return path, nil
}

// child is an agent or a server that a benchmark has started.
type child struct {
	*daemon.Process
	dir string // removed by remove; can be empty
}

// startChild starts drover in a role, agent or server. It ends with life at the latest.
func startChild(life context.Context, program, role, name, config string) (*child, error) {
	cmd := exec.CommandContext(life, program, "--json", role, "--config", config, "--log-level", "warn")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = daemonStop
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches it once, through life
	p, err := daemon.Start(name, cmd)
	if err != nil {
		return nil, err
	}
	return &child{Process: p}, nil
}

// wait waits until the sockets of the child are open.
func (c *child) wait(ctx context.Context) error { return c.Wait(ctx, daemonStart) }

// end ends the child and waits for it.
func (c *child) end() { c.End(daemonStop) }

// remove removes the directory of a child that has ended. The supervisor that outlives
// a server can still write there while it ends the last jobs.
func (c *child) remove() {
	ticker := time.NewTicker(daemonStop / 100)
	defer ticker.Stop()
	for range 100 {
		if os.RemoveAll(c.dir) == nil {
			return
		}
		<-ticker.C
	}
}

// stop ends the child and removes its directory.
func (c *child) stop() {
	c.end()
	c.remove()
}

// startServer starts a server in a temporary directory and waits until it is up. config
// returns its configuration, given that directory.
func (f *droverFlag) startServer(a *app, config func(dir string) string) (_ *child, err error) {
	program, err := f.program()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "drover-bench-")
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	path := filepath.Join(dir, "site.yaml")
	if err := os.WriteFile(path, []byte(config(dir)), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("start a server: %w", err), os.RemoveAll(dir))
	}
	d, err := startChild(a.ctx, program, "server", "the server", path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	d.dir = dir
	if err := d.wait(a.ctx); err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}
