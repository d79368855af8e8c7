package cgroup

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Freeze stops all processes of the group, and returns when all have stopped or
// ctx has ended. In the second case they go on stopping until Thaw is called.
// Their memory stays theirs.
func (g *Group) Freeze(ctx context.Context) error {
	const op = "freeze"
	g.mu.Lock()
	if g.removed {
		g.mu.Unlock()
		return &Error{Op: op, Group: g.name, Kind: ErrVanished}
	}
	g.frozen = true
	err := g.setStopped(true)
	g.mu.Unlock()
	if err == nil {
		err = poll(ctx, g.stopped)
	}
	return failed(op, g.name, err)
}

// Thaw lets the processes go on: at once, or in their turn where duty cycles hold them
// to their share.
func (g *Group) Thaw() error {
	const op = "thaw"
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.removed {
		return &Error{Op: op, Group: g.name, Kind: ErrVanished}
	}
	g.frozen = false
	if g.paced != nil && !g.paced.cycle.running {
		return nil // who would go on here is not stopped in the next turn
	}
	return failed(op, g.name, g.setStopped(false))
}

// setStopped has all processes stop or go on. It does not wait.
func (g *Group) setStopped(stop bool) error {
	t := g.host.by[Pausing]
	switch {
	case t == nil && stop:
		return g.members.signal(syscall.SIGSTOP)
	case t == nil:
		return g.members.signal(syscall.SIGCONT)
	case t.v2:
		value := "0"
		if stop {
			value = "1"
		}
		return g.host.kernel.write(filepath.Join(g.dir(t), "cgroup.freeze"), value)
	}
	value := "THAWED"
	if stop {
		value = "FROZEN"
	}
	return g.host.kernel.write(filepath.Join(g.dir(t), "freezer.state"), value)
}

// stopped reports whether all have stopped. Once thawed there is nothing to
// wait for.
func (g *Group) stopped() (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.host.by[Pausing]
	switch {
	case !g.frozen:
		return true, nil
	case t == nil:
		return g.members.stopped()
	case t.v2:
		return g.event("frozen", 1)
	}
	text, err := g.host.kernel.read(filepath.Join(g.dir(t), "freezer.state"))
	if err == nil && strings.TrimSpace(text) == "FREEZING" {
		// A process that was made meanwhile may have been missed.
		err = g.setStopped(true)
	}
	return strings.TrimSpace(text) == "FROZEN", err
}

// event reports whether a line of cgroup.events has that value.
func (g *Group) event(key string, value int64) (bool, error) {
	text, err := g.host.kernel.read(filepath.Join(g.dir(g.host.by[Pausing]), "cgroup.events"))
	if err != nil {
		return false, err
	}
	got, ok := field(text, key)
	return ok && got == value, nil
}

// field returns the number behind a key in a file of lines "key number".
func field(text, key string) (int64, bool) {
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && name == key {
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
