package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-9b8f70bb/drover/cgroup"
)

// horizon is how long the files of a job are kept after the last change: no message
// about it is accepted any more then (DESIGN, Submitting once).
const horizon = 31 * 24 * time.Hour

// recover takes over what the supervisor runs, and kills whatever else is in the
// groups of predecessors.
func (h *Host) recover(ctx context.Context) error {
	names, err := h.groups.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := h.recoverGroup(ctx, name); err != nil {
			return fmt.Errorf("what is left of %s: %w", name, err)
		}
	}
	return nil
}

func (h *Host) recoverGroup(ctx context.Context, name string) error {
	if id, ok := parseGroup(name); ok {
		st, p, err := h.Attach(ctx, id)
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			h.log.Error("what became of a task cannot be known, killing it", "task", id, "error", err)
		case p != nil:
			h.log.Info("a task is taken over", "task", id)
			return h.revive(p)
		default:
			h.log.Info("a task is over", "task", id, "condition", st.Condition)
		}
	}
	g, err := h.groups.Find(name)
	if errors.Is(err, cgroup.ErrNotFound) {
		return nil // it ended meanwhile
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, disposePatience)
	defer cancel()
	if pids, err := g.Pids(); err == nil && len(pids) > 0 {
		h.log.Warn("killing what nobody owns", "group", name, "processes", len(pids))
	}
	return errors.Join(g.Kill(ctx), g.Remove())
}

// revive lets a task go on that a predecessor has stopped in the middle of a cycle.
func (h *Host) revive(p *Process) error {
	if len(h.cpus) > 0 {
		if err := p.SetCPUs(h.cpus); err != nil && !errors.Is(err, os.ErrProcessDone) {
			h.log.Warn("a task keeps the processors that it had", "task", p.ID(), "error", err)
		}
	}
	if way := h.groups.Offers().Of(cgroup.Shares); way == cgroup.V1 || way == cgroup.V2 {
		return nil // the kernel holds it to its share
	}
	_, err := p.Share(0)
	if err == nil {
		err = p.group.Thaw()
	}
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, cgroup.ErrNotOffered) || errors.Is(err, cgroup.ErrVanished) {
		return nil
	}
	return err
}

// Sweep removes the files of jobs that nobody will ask for any more. Open does, and
// whoever keeps a host for long does once a day.
func (h *Host) Sweep(now time.Time) error {
	dirs, err := os.ReadDir(h.attempts())
	if err != nil {
		return err
	}
	for _, d := range dirs {
		path := filepath.Join(h.attempts(), d.Name())
		old, err := oldest(path, now.Add(-horizon))
		if err != nil {
			return err
		}
		if old && !h.runs(d.Name()) {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// oldest reports whether a directory and all in it were last changed before.
func oldest(dir string, before time.Time) (bool, error) {
	old := true
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !info.ModTime().Before(before) {
			old = false
			return fs.SkipAll
		}
		return err
	})
	return old, err
}

// runs reports whether a task of that directory is followed.
func (h *Host) runs(dir string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.tasks {
		if id.dir() == dir {
			return true
		}
	}
	return false
}
