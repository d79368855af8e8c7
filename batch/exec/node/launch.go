package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

// Launch runs a task at most once, however often it is called, and returns when its program
// is executed. Errors are those of supervisor.Client.SpawnIn, or an *InvalidError.
func (h *Host) Launch(ctx context.Context, t TaskSpec) (*Task, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	t.Spec.Key = t.ID.Key
	p, _, err := h.settle(ctx, t.ID, func(ctx context.Context) (*Task, attempt.Status, error) {
		p, err := h.launch(ctx, t)
		if err != nil {
			h.doubt.Store(true) // see Fit
		}
		return p, attempt.Status{Condition: attempt.Running}, err
	})
	if p == nil && err == nil {
		// A concurrent Attach has found that it does not run.
		return h.Launch(ctx, t)
	}
	return p, err
}

func (h *Host) launch(ctx context.Context, t TaskSpec) (*Task, error) {
	g, err := h.group(&t)
	if err != nil {
		won, state, barring := journal.Claim(h.dir(t.ID), journal.Name(t.ID.Key.Epoch, t.ID.Key.Attempt),
			journal.Claimer{Kind: journal.Server}, time.Now())
		switch {
		case barring != nil:
			h.log.Error("launch failed, and bar failed", "task", t.ID, "error", barring)
			return nil, fmt.Errorf("%w; bar failed", err)
		case won || state.End.Kind == journal.Never:
			h.log.Warn("launch failed", "task", t.ID, "error", err)
			return nil, fmt.Errorf("%w: %w", exec.ErrNeverRan, err)
		}
		// It was launched before, and has ended or its group exists.
		if g, err = h.groups.Find(t.ID.group()); err != nil {
			g = nil
		}
	}
	where := supervisor.Placement{Token: t.Token}
	if g != nil {
		where.Groups = g.Procs()
	}
	program, err := h.client.SpawnIn(ctx, t.Spec, h.dir(t.ID), where)
	if err != nil {
		h.dispose(g)
		return nil, err
	}
	return h.process(t.ID, program, g), nil
}

// group creates the control group of a task, with its limits.
func (h *Host) group(t *TaskSpec) (*cgroup.Group, error) {
	g, err := h.groups.Make(t.ID.group())
	found := errors.Is(err, cgroup.ErrExists) || errors.Is(err, fs.ErrExist)
	if found {
		g, err = h.groups.Find(t.ID.group())
	}
	if err != nil {
		return nil, groupError(err)
	}
	if t.Memory > 0 {
		err = offered(g.SetMemory(t.Memory))
	}
	cpus := t.CPUs
	if len(cpus) == 0 {
		cpus = h.cpus
	}
	if len(cpus) > 0 {
		err = errors.Join(err, offered(g.SetCPUs(cpus)))
	}
	if _, e := g.SetShare(share(t.CPU)); e != nil {
		err = errors.Join(err, offered(e))
	}
	if err != nil {
		if !found { // else it may have been launched before, and run
			h.dispose(g)
		}
		return nil, groupError(err)
	}
	return g, nil
}

// offered ignores cgroup.ErrNotOffered.
func offered(err error) error {
	if errors.Is(err, cgroup.ErrNotOffered) {
		return nil
	}
	return err
}

// groupError keeps paths of this host out of text for a job's owner.
func groupError(err error) error {
	var e *cgroup.Error
	var path *fs.PathError
	if errors.As(err, &e) && e.Kind != nil {
		return fmt.Errorf("control group: %s: %w", e.Op, e.Kind)
	}
	if errors.As(err, &path) {
		return fmt.Errorf("control group: %w", path.Err)
	}
	return fmt.Errorf("control group: %w", err)
}

// process makes the Task of a program in its group.
func (h *Host) process(id ID, program *supervisor.Attempt, g *cgroup.Group) *Task {
	if g != nil && h.bySignals() && program.Pid() > 0 {
		if err := g.Add(program.Pid()); err != nil && !errors.Is(err, os.ErrProcessDone) {
			h.log.Error("share not enforced", "task", id, "error", err)
		}
	}
	return &Task{id: id, program: program, group: g, ended: make(chan struct{})}
}

// bySignals reports whether groups must be given their processes explicitly.
func (h *Host) bySignals() bool {
	o := h.groups.Offers()
	return o.Of(cgroup.Pausing) == cgroup.Signals || o.Of(cgroup.Killing) == cgroup.Signals ||
		o.Of(cgroup.Measuring) == cgroup.Signals
}

// dispose kills the processes in a group and removes it.
func (h *Host) dispose(g *cgroup.Group) {
	if g == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), disposePatience)
	defer cancel()
	if err := errors.Join(g.Kill(ctx), g.Remove()); err != nil {
		h.log.Error("remove control group failed, retried at the next start", "group", g.Name(), "error", err)
	}
}

// disposePatience bounds the wait for killed processes to disappear.
const disposePatience = 30 * time.Second

// Attach returns what became of a task, and the Task if it runs.
func (h *Host) Attach(ctx context.Context, id ID) (attempt.Status, *Task, error) {
	if err := id.Validate(); err != nil {
		return attempt.Status{}, nil, &InvalidError{err}
	}
	p, st, err := h.settle(ctx, id, func(ctx context.Context) (*Task, attempt.Status, error) {
		st, program, err := h.client.Attach(ctx, id.Key, h.dir(id))
		if err != nil || program == nil {
			return nil, st, err
		}
		return h.adopt(id, program), st, nil
	})
	if p != nil {
		st = attempt.Status{Condition: attempt.Running, Started: p.Started(), Pid: p.program.Pid()}
	}
	return st, p, err
}

// Bar makes the server's claim: won means that the task has never run and never will.
func (h *Host) Bar(id ID) (won bool, err error) {
	if err := id.Validate(); err != nil {
		return false, &InvalidError{err}
	}
	won, state, err := journal.Claim(h.dir(id), journal.Name(id.Key.Epoch, id.Key.Attempt),
		journal.Claimer{Kind: journal.Server}, time.Now())
	return won || state.End.Kind == journal.Never, err
}

// Age returns the time since the start of a task's process, by a clock that cannot be set.
func (h *Host) Age(id ID) (time.Duration, error) {
	if err := id.Validate(); err != nil {
		return 0, &InvalidError{err}
	}
	state, err := journal.Read(h.dir(id), journal.Name(id.Key.Epoch, id.Key.Attempt))
	if err != nil {
		return 0, err
	}
	return state.Run.Age()
}

// pending is a task that is being settled or runs.
type pending struct {
	settled chan struct{} // closed when the other fields are set

	// Guarded by the host's mu.
	process *Task // nil: it does not run
	status  attempt.Status
	err     error
}

// settle returns what became of a task, by one call of find that concurrent callers share. It
// completes even if no caller waits any more.
func (h *Host) settle(
	ctx context.Context, id ID, find func(context.Context) (*Task, attempt.Status, error),
) (*Task, attempt.Status, error) {
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

// follow waits for the end of a task and cleans up.
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

// wantOfMemory returns a message if the kernel has killed processes of a failed task because
// of its memory limit. Its exit shows only SIGKILL, or nothing if another process than the
// first was killed. The group of the task must still exist.
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
