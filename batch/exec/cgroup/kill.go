package cgroup

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
)

// Kill ends all processes of the group, frozen or not, and returns when none is
// left or ctx has ended. What they start meanwhile is killed as well.
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

// gone reports whether the kernel has no such group, which therefore has no
// processes. It is another thing if the hierarchy is not to be seen at all.
func (g *Group) gone() bool {
	if len(g.host.trees) == 0 {
		return false
	}
	_, err := g.host.kernel.read(filepath.Join(filepath.Dir(g.home().base), "cgroup.procs"))
	return err == nil
}

// killed kills whoever is there, and reports whether nobody was.
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
		// A stopped process dies of it without being continued.
		return false, g.members.signal(syscall.SIGKILL)
	}
	// Frozen they cannot outrun us; the signal reaches them when they thaw.
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
