package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// horizon is how long the files of a job are kept after the last change: later messages about
// it are refused (docs/architecture.md, A job's life).
const horizon = 31 * 24 * time.Hour

// recover adopts the tasks that the supervisor runs, and kills all other processes in the
// groups of predecessors.
func (h *Host) recover(ctx context.Context) error {
	names, err := h.groups.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := h.recoverGroup(ctx, name); err != nil {
			return fmt.Errorf("recover group %s: %w", name, err)
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
			h.log.Error("attach failed, killing the task", "task", id, "error", err)
		case p != nil:
			h.log.Info("task adopted", "task", id)
			return nil
		default:
			h.log.Info("task ended", "task", id, "condition", st.Condition)
		}
	}
	g, err := h.groups.Find(name)
	if errors.Is(err, cgroup.ErrNotFound) {
		return nil // it has ended since
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, disposePatience)
	defer cancel()
	if pids, err := g.Pids(); err == nil && len(pids) > 0 {
		h.log.Warn("killing processes without an owner", "group", name, "processes", len(pids))
	}
	return errors.Join(g.Kill(ctx), g.Remove())
}

// adopt follows a program that a predecessor has launched.
func (h *Host) adopt(id ID, program *supervisor.Attempt) *Task {
	g, err := h.groups.Find(id.group())
	if errors.Is(err, cgroup.ErrNotFound) && !h.byGroups() {
		// It runs without a group: the predecessor kept it in memory only.
		g, err = h.groups.Make(id.group())
	}
	if err != nil {
		h.log.Warn("adopted task has no control group", "task", id, "error", err)
		g = nil
	}
	p := h.process(id, program, g)
	if err := h.revive(p); err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, cgroup.ErrNotOffered) {
		h.log.Warn("restore task failed", "task", id, "error", err)
	}
	return p
}

// byGroups reports whether this host uses control groups.
func (h *Host) byGroups() bool {
	return slices.ContainsFunc(h.groups.Offers(), func(o cgroup.Offer) bool { return o.Way > cgroup.Signals })
}

// revive confines a task to this host's processors, and continues it if a predecessor has
// stopped it in the middle of a cycle.
func (h *Host) revive(p *Task) error {
	var err error
	if len(h.cpus) > 0 {
		err = p.SetCPUs(h.cpus)
	}
	if way := h.groups.Offers().Of(cgroup.Shares); way == cgroup.V1 || way == cgroup.V2 || p.group == nil {
		return err // the kernel enforces its share, and its pause
	}
	_, e := p.Share(0)
	return errors.Join(err, e, p.gone(p.group.Thaw()))
}

// keepSwept sweeps once a day.
func (h *Host) keepSwept() {
	tick := time.NewTicker(24 * time.Hour)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if err := h.Sweep(now); err != nil {
				h.log.Error("sweep failed", "error", err)
			}
		case <-h.ctx.Done():
			return
		}
	}
}

// Sweep removes the files of jobs that are older than the horizon. A host calls it when it is
// opened and once a day.
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
		if !old || !h.bury(d.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(h.attempts(), strings.TrimSuffix(d.Name(), buried)+buried)); err != nil {
			return err
		}
	}
	return nil
}

// buried is the suffix of a directory that is being removed. No task's directory has it.
const buried = "~"

// bury renames a directory, so that later launches do not use it, and reports whether it may
// be removed: not while there is a task of that directory.
func (h *Host) bury(dir string) bool {
	if strings.HasSuffix(dir, buried) { // by a sweep that was interrupted
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.tasks {
		if id.dir() == dir {
			return false
		}
	}
	path := filepath.Join(h.attempts(), dir)
	return os.Rename(path, path+buried) == nil
}

// oldest reports whether a directory and all its files were last changed before.
func oldest(dir string, before time.Time) (bool, error) {
	old := true
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
			old = false // it is being changed
			return fs.SkipAll
		}
		return err
	})
	return old, err
}
