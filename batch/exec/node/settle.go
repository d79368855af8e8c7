package node

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// pending is one that somebody has asked about, until that is answered or it has ended.
type pending struct {
	settled chan struct{} // closed when the rest is known

	// Guarded by the host's mu.
	process *Task // nil: it does not run
	status  attempt.Status
	err     error
}

// settle answers what became of a task: one of those who ask at the same time finds
// out, and does so to the end, whoever still wants to know.
func (h *Host) settle(ctx context.Context, id ID, find func(context.Context) (*Task, attempt.Status, error)) (*Task, attempt.Status, error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, attempt.Status{}, fmt.Errorf("task %s: %w", id, supervisor.ErrClosed)
	}
	t := h.tasks[id]
	if t == nil {
		t = &pending{settled: make(chan struct{})}
		h.tasks[id] = t
		h.work.Go(func() { h.find(id, t, find) })
	}
	h.mu.Unlock()
	select {
	case <-t.settled:
	case <-ctx.Done():
		return nil, attempt.Status{}, context.Cause(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return t.process, t.status, t.err
}

func (h *Host) find(id ID, t *pending, find func(context.Context) (*Task, attempt.Status, error)) {
	p, st, err := find(h.ctx)
	h.mu.Lock()
	t.process, t.status, t.err = p, st, err
	if p == nil {
		delete(h.tasks, id)
	} else {
		h.work.Go(func() { h.follow(p) })
	}
	close(t.settled)
	h.mu.Unlock()
}

// follow waits for the end of a task and clears up behind it.
func (h *Host) follow(p *Task) {
	exit := p.program.Wait()
	if !exit.Detached {
		exit.Reason = cmp.Or(exit.Reason, wantOfMemory(&exit, p.group))
		h.dispose(p.group)
	}
	h.mu.Lock()
	delete(h.tasks, p.id)
	h.mu.Unlock()
	if !exit.Detached && h.cfg.Ended != nil {
		h.cfg.Ended(p.id, statusOf(exit, p.Started()))
	}
	p.finish(exit)
}

// wantOfMemory tells of a task that has failed whether the kernel has killed any of it
// for want of memory: of that its exit tells no more than SIGKILL, or nothing at all
// when it was not the first process. The group of the task still has to be there.
func wantOfMemory(exit *exec.Exit, g *cgroup.Group) string {
	if g == nil || exit.Lost || exit.Code == 0 && exit.Signal == 0 {
		return ""
	}
	use, err := g.Use()
	if err != nil || use.OOMKills == 0 {
		return ""
	}
	return fmt.Sprintf("processes of it that the kernel killed for want of memory: %d", use.OOMKills)
}
