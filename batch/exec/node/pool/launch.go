package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch/exec"
)

var _ exec.Launcher = (*Pool)(nil)

// Launch implements exec.Launcher. It returns when all members are launched, or have failed
// to. If some run and others never will, the running ones are ended as if the others had
// failed.
func (p *Pool) Launch(spec exec.Spec) (exec.Launched, error) {
	parts, err := p.split(spec.Launch, spec.Allocation)
	if err != nil {
		return nil, err
	}
	if p.ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", exec.ErrNeverRan, ErrClosed)
	}
	proc := newProcess(p, spec.Key, spec.Launch, parts)
	if err := proc.enter(); err != nil {
		return nil, err
	}
	if len(parts) > 1 && !spec.Append {
		if err := truncate(&spec); err != nil {
			p.log.Error("create job files failed", "job", spec.Key.Job, "error", err)
			proc.Detach()
			return nil, fmt.Errorf("%w: the server could not create its files", exec.ErrNeverRan)
		}
	}
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for rank, m := range proc.members {
		all.Go(func() { errs[rank] = m.launch(task(m, &spec, parts)) })
	}
	all.Wait()
	if err := proc.launchedAll(errs); err != nil {
		return nil, err
	}
	return proc, nil
}

// enter registers all members, or none if a node is down.
func (p *Attempt) enter() error {
	for _, m := range p.members {
		if !m.peer.enter(m, false) {
			p.Detach()
			m.peer.awaitTold()
			return fmt.Errorf("node %s: %w", m.peer.name, exec.ErrNodeGone)
		}
	}
	return nil
}

// awaitTold waits until the follower knows that a node is down. Otherwise a policy would
// start the same job there again at once.
func (e *peer) awaitTold() {
	if e.pool.follower() != nil {
		e.until(e.pool.ctx, func() bool { return e.isUp() || e.asked && !e.reported })
	}
}

// launch launches a member.
func (m *member) launch(t TaskSpec) error {
	// When the node's lease is over there is nothing to wait for, even if a new one has begun
	// before this goroutine notices.
	ctx, cancel := context.WithCancel(m.of.pool.ctx)
	defer cancel()
	m.of.pool.spawn(func() {
		m.peer.until(ctx, func() bool { return m.peer.lapsed || m.peer.members[m.id] != m })
		cancel()
	})
	proc, err := m.peer.node.Launch(ctx, t)
	if err != nil {
		if errors.Is(err, exec.ErrNodeGone) || errors.Is(err, exec.ErrNeverRan) {
			m.peer.suspect(ctx)
		}
		return err
	}
	m.runs(proc)
	return nil
}

// suspect makes the pool query at once whether a node is up and fit, and waits for the
// answer.
func (e *peer) suspect(ctx context.Context) {
	e.mu.Lock()
	e.asked = false
	e.mu.Unlock()
	e.kick()
	e.until(ctx, func() bool { return e.asked })
	e.awaitTold()
}

// launchedAll settles the outcome of a launch: an error if no member runs.
func (p *Attempt) launchedAll(errs []error) error {
	var plain, never, gone error
	started := false
	for rank, err := range errs {
		m := p.members[rank]
		switch {
		case err == nil:
			started = true
			continue
		case errors.Is(err, exec.ErrNodeGone):
			gone = or(gone, fmt.Errorf("node %s: %w", m.peer.name, err))
		case errors.Is(err, exec.ErrNeverRan):
			never = or(never, err)
		default:
			if m.peer.among() {
				err = fmt.Errorf("node %s: %w", m.peer.name, err)
			}
			plain = or(plain, err)
		}
	}
	if !started {
		p.Detach()
		switch {
		case plain != nil:
			return plain
		case never != nil || gone != nil && !allGone(errs):
			return or(never, fmt.Errorf("%w: %w", exec.ErrNeverRan, gone))
		}
		return gone
	}
	for rank, err := range errs {
		if err != nil {
			m := p.members[rank]
			m.lose(fmt.Sprintf("process %d of %d was not started on node %s: %v", rank+1, len(errs), m.peer.name, err))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.launched = true
	p.settle()
	return nil
}

// among reports whether the site has several hosts, so that messages must name the node.
func (e *peer) among() bool { return len(e.pool.all) > 1 }

func allGone(errs []error) bool {
	return !slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, exec.ErrNodeGone) })
}

func or(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// task is the specification of a member.
func task(m *member, spec *exec.Spec, parts []part) TaskSpec {
	t := TaskSpec{ID: m.id, Spec: *spec}
	t.Spec.Allocation = parts[m.id.Rank].allocation
	t.Spec.Append = spec.Append || len(parts) > 1
	env := make([]string, 0, len(spec.Env)+2)
	whole, own := strconv.Itoa(int(spec.Shape.Width)), strconv.Itoa(int(processors(t.Spec.Allocation)))
	for _, v := range spec.Env {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case name == "DROVER_RANK" || name == "DROVER_RANKS":
			continue
		case (name == "OMP_NUM_THREADS" || name == "GOMAXPROCS") && value == whole:
			v = name + "=" + own
		}
		env = append(env, v)
	}
	env = append(env, "DROVER_RANK="+strconv.Itoa(int(m.id.Rank)), "DROVER_RANKS="+strconv.Itoa(len(parts)))
	slices.Sort(env)
	t.Spec.Env = env
	return t
}

// truncate truncates files that several members append to.
func truncate(spec *exec.Spec) error {
	files := []string{spec.Stdout, spec.Stderr}
	for _, name := range files {
		if name == "" {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
