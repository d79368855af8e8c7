package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

// demoMember is one process of the grid.
type demoMember struct {
	name        string
	cmd         *exec.Cmd
	url, gossip string
	log         tail
	up, over    chan struct{} // closed when it has its sockets, and when it has ended
}

// wait waits until a member has its sockets.
func (m *demoMember) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, demoUp, fmt.Errorf("%s is not up within %v", m.name, demoUp))
	defer cancel()
	select {
	case <-m.up:
		return nil
	case <-m.over:
		return m.ended()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ended says how a member ended, with the last that it said.
func (m *demoMember) ended() error {
	said := strings.TrimSpace(m.log.String())
	if said != "" {
		said = ", after saying:\n" + said
	}
	return fmt.Errorf("%s has ended: %v%s", m.name, m.cmd.ProcessState, said)
}

// member runs one member, until standard input ends or a signal comes.
func (c *demoCmd) member(a *app) error {
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, a.stdin)
		cancel()
	}()
	a.ctx = ctx
	r := role{Config: c.Config, LogLevel: "warn"}
	if c.Member == "agent" {
		return (&agentCmd{r}).Run(a)
	}
	return (&serverCmd{r}).Run(a)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailLength = 2000 // bytes

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
