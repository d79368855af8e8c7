package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/internal/cmdline"
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

// daemon is an agent or a server that a benchmark has started.
type daemon struct {
	name        string
	dir         string // removed by remove; can be empty
	url, gossip string // once it is up
	cmd         *exec.Cmd
	log         tail
	up, over    chan struct{} // closed when it has its sockets, and when it has ended
}

// startDaemon starts drover in a role, agent or server. It ends with life at the latest.
func startDaemon(life context.Context, program, role, name, config string) (*daemon, error) {
	d := &daemon{name: name, up: make(chan struct{}), over: make(chan struct{})}
	d.cmd = exec.CommandContext(life, program, "--json", role, "--config", config, "--log-level", "warn")
	d.cmd.Cancel = func() error { return d.cmd.Process.Signal(syscall.SIGTERM) }
	d.cmd.WaitDelay = daemonStop
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches it once, through life
	d.cmd.Stderr = &d.log
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		var up struct{ URL, Gossip string }
		if err := json.NewDecoder(stdout).Decode(&up); err == nil {
			d.url, d.gossip = up.URL, up.Gossip
			close(d.up)
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = d.cmd.Wait() // ProcessState has the result
		close(d.over)
	}()
	return d, nil
}

// wait waits until the daemon has its sockets.
func (d *daemon) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, daemonStart, fmt.Errorf("%s is not up after %v", d.name, daemonStart))
	defer cancel()
	select {
	case <-d.up:
		return nil
	case <-d.over:
		return d.ended()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ended returns an error that says how the daemon ended, with the end of its log.
func (d *daemon) ended() error {
	log := strings.TrimSpace(d.log.String())
	if log != "" {
		log = ":\n" + log
	}
	return fmt.Errorf("%s ended with %v%s", d.name, d.cmd.ProcessState, log)
}

// end ends the daemon and waits for it.
func (d *daemon) end() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(daemonStop)
	defer timer.Stop()
	select {
	case <-d.over:
	case <-timer.C:
		_ = d.cmd.Process.Kill()
		<-d.over
	}
}

// remove removes the directory of a daemon that has ended. The supervisor that outlives
// a server can still write there while it ends the last jobs.
func (d *daemon) remove() {
	ticker := time.NewTicker(daemonStop / 100)
	defer ticker.Stop()
	for range 100 {
		if os.RemoveAll(d.dir) == nil {
			return
		}
		<-ticker.C
	}
}

// stop ends the daemon and removes its directory.
func (d *daemon) stop() {
	d.end()
	d.remove()
}

// startServer starts a server in a temporary directory and waits until it is up. config
// returns its configuration, given that directory.
func (f *droverFlag) startServer(a *app, config func(dir string) string) (_ *daemon, err error) {
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
	d, err := startDaemon(a.ctx, program, "server", "the server", path)
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

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailLength = 2000 // bytes

// Write is io.Writer's.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if cut := len(t.last) - tailLength; cut > 0 {
		t.last = bytes.Clone(t.last[cut:])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}
