// Package daemon follows an agent or a server that runs as a child process: the demo
// and the benchmarks start their grids with it.
package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Announcement is what an agent or a server prints on standard output when its sockets
// are open, with --json.
type Announcement struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Gossip string `json:"gossip"` // address
}

// Process is an agent or a server that is a child of this process.
type Process struct {
	Announcement // its URL and gossip address are valid after Wait has returned nil
	// Ended is closed when the process has ended and its output has been read.
	Ended <-chan struct{}

	cmd *exec.Cmd
	log tail
	up  chan struct{} // closed when the announcement has been read
}

// Start starts a command that announces itself, and reads its output. The caller has set
// how the command ends with its context.
func Start(name string, cmd *exec.Cmd) (*Process, error) {
	ended := make(chan struct{})
	p := &Process{Announcement: Announcement{Name: name}, Ended: ended, cmd: cmd, up: make(chan struct{})}
	cmd.Stderr = &p.log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		var up Announcement
		if err := json.NewDecoder(stdout).Decode(&up); err == nil {
			p.URL, p.Gossip = up.URL, up.Gossip
			close(p.up)
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait() // ProcessState has the result
		close(ended)
	}()
	return p, nil
}

// Wait waits until the sockets of the process are open, at most timeout.
func (p *Process) Wait(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%s is not up within %v", p.Name, timeout))
	defer cancel()
	select {
	case <-p.up:
		return nil
	case <-p.Ended:
		return p.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Err describes how the process ended, with the end of its log. Call it after Ended.
func (p *Process) Err() error {
	log := p.Log()
	if log != "" {
		log = ", last output:\n" + log
	}
	return fmt.Errorf("%s has ended: %v%s", p.Name, p.cmd.ProcessState, log)
}

// Succeeded reports whether the process exited with code 0. Call it after Ended.
func (p *Process) Succeeded() bool { return p.cmd.ProcessState.Success() }

// Log returns the last lines that the process wrote to standard error.
func (p *Process) Log() string { return strings.TrimSpace(p.log.String()) }

// PID returns the process ID.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// End asks the process to end with SIGTERM, kills it after timeout, and waits for its end.
func (p *Process) End(timeout time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.Ended:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.Ended
	}
}

// tail keeps the end of the output written to it.
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
