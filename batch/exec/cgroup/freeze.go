package cgroup

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Freeze stops all processes of the group, and returns when all have stopped or ctx has
// ended. In the second case they continue to stop until Thaw is called. They keep their
// memory.
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

// Thaw continues the processes: at once, or in their turn if duty cycles enforce their share.
func (g *Group) Thaw() error {
	const op = "thaw"
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.removed {
		return &Error{Op: op, Group: g.name, Kind: ErrVanished}
	}
	g.frozen = false
	if g.paced != nil && !g.paced.cycle.running {
		return nil // a process continued here would not be stopped in the next turn
	}
	return failed(op, g.name, g.setStopped(false))
}

// setStopped stops or continues all processes. It does not wait.
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

// stopped reports whether all processes have stopped. It is true at once if the group was
// thawed.
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
		// A process that was created since may have been missed.
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

// field returns the number of a key in a file of lines "key number".
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

// Kill kills all processes of the group, frozen or not, including those they start meanwhile,
// and returns when none is left or ctx has ended.
func (g *Group) Kill(ctx context.Context) error {
	const op = "kill"
	g.mu.Lock()
	if g.removed {
		g.mu.Unlock()
		return nil
	}
	g.unpace()
	g.mu.Unlock()
	err := poll(ctx, g.killed)
	if is(err, ErrVanished) && g.gone() {
		return nil
	}
	return failed(op, g.name, err)
}

// gone reports whether the kernel has no such group, which therefore has no processes. It is
// false if the hierarchy itself is not visible.
func (g *Group) gone() bool {
	if len(g.host.trees) == 0 {
		return false
	}
	_, err := g.host.kernel.read(filepath.Join(filepath.Dir(g.home().base), "cgroup.procs"))
	return err == nil
}

// killed kills the processes in the group, and reports whether there were none.
func (g *Group) killed() (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.host.by[Killing]
	if t != nil && t.v2 {
		return g.killV2(t)
	}
	pids, err := g.pids()
	if err != nil || len(pids) == 0 {
		return err == nil, err
	}
	if t == nil && len(g.host.trees) == 0 {
		// SIGKILL needs no SIGCONT.
		return false, g.members.signal(syscall.SIGKILL)
	}
	// Frozen processes cannot fork faster than they are killed; the signal takes effect when
	// they thaw.
	if g.host.by[Pausing] != nil {
		if err := g.setStopped(true); err != nil {
			return false, err
		}
		if pids, err = g.pids(); err != nil {
			return false, err
		}
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return false, err
		}
	}
	g.frozen = false
	return false, g.setStopped(false)
}

func (g *Group) killV2(t *tree) (bool, error) {
	dir := g.dir(t)
	text, err := g.host.kernel.read(filepath.Join(dir, "cgroup.events"))
	if err != nil {
		return false, err
	}
	if populated, ok := field(text, "populated"); ok && populated == 0 {
		return true, nil
	}
	return false, g.host.kernel.write(filepath.Join(dir, "cgroup.kill"), "1")
}
