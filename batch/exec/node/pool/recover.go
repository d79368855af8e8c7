package pool

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

// Recover finds out what became of an attempt that an earlier server may have launched on
// this allocation: it has never run and never will (Barred), it has ended, or it runs, or may
// run on a node that does not answer; only then is there an Attempt, and the time since it
// runs, if that is known. It waits until the nodes have been queried once, and at most until
// ctx ends.
func (p *Pool) Recover(
	ctx context.Context, key batch.Key, how batch.Launch, allocation []batch.NodeAllocation,
) (attempt.Status, *Attempt, error) {
	parts, err := p.split(how, allocation)
	if err != nil {
		return attempt.Status{}, nil, fmt.Errorf("recover job %s: %w", key.Job, err)
	}
	proc := newProcess(p, key, how, parts)
	states := make([]attempt.Status, len(parts))
	var all sync.WaitGroup
	for rank, m := range proc.members {
		all.Go(func() { states[rank] = m.recover(ctx) })
	}
	all.Wait()
	if p.ctx.Err() != nil {
		proc.Detach()
		return attempt.Status{}, nil, fmt.Errorf("recover job %s: %w", key.Job, ErrClosed)
	}
	return proc.recovered(states)
}

// recover queries a member. If the node is down, the query is repeated when it is up.
func (m *member) recover(ctx context.Context) attempt.Status {
	m.peer.enter(m, true)
	up := false
	if m.peer.until(ctx, func() bool { up = m.peer.up; return m.peer.asked }) && up {
		if st, err := m.attach(); err == nil {
			return st
		}
	}
	m.of.pool.spawn(m.retry)
	return attempt.Status{}
}

// retry repeats a query whenever the node is up, until it answers or the member is given up.
func (m *member) retry() {
	ctx := m.of.pool.ctx
	for {
		m.peer.until(ctx, func() bool { return m.peer.up || m.peer.members[m.id] != m })
		m.of.mu.Lock()
		over := m.over
		m.of.mu.Unlock()
		if over || m.of.pool.ctx.Err() != nil {
			return
		}
		if st, err := m.attach(); err == nil {
			m.take(st, "it was never started")
			return
		}
		m.peer.suspect(ctx)
	}
}

// attach bars a member, or attaches to it.
func (m *member) attach() (attempt.Status, error) {
	ctx, cancel := context.WithTimeout(m.of.pool.ctx, m.of.pool.cfg.patience())
	defer cancel()
	won, err := m.peer.node.Bar(ctx, m.id)
	switch {
	case err != nil:
		return attempt.Status{}, err
	case won:
		return attempt.Status{Condition: attempt.Barred}, nil
	}
	st, proc, err := m.peer.node.Attach(ctx, m.id)
	if err != nil {
		return st, err
	}
	if proc != nil {
		m.runs(proc)
	}
	return st, nil
}

// take ends a member that has ended.
func (m *member) take(st attempt.Status, never string) {
	switch st.Condition {
	case attempt.Running, 0:
	case attempt.Exited:
		m.end(exec.Exit{Code: st.Code, Reason: st.Reason})
	case attempt.Signaled:
		m.end(exec.Exit{Signal: st.Signal, Reason: st.Reason})
	case attempt.Lost, attempt.Failed:
		m.lose(st.Reason)
	default:
		m.lose(never)
	}
}

// recovered combines the states of the members.
func (p *Attempt) recovered(states []attempt.Status) (attempt.Status, *Attempt, error) {
	lives, ran := false, false
	var end attempt.Status
	var started time.Time
	for _, st := range states {
		switch st.Condition {
		case 0, attempt.Running:
			lives = true
			if !st.Started.IsZero() && (started.IsZero() || st.Started.Before(started)) {
				started = st.Started
			}
		case attempt.Unclaimed, attempt.Barred, attempt.NeverRan:
		default:
			ran = true
			end = worse(end, st)
		}
	}
	switch {
	case lives:
		for rank, st := range states {
			p.members[rank].take(st, fmt.Sprintf("process %d of %d was never started", rank+1, len(states)))
		}
		p.mu.Lock()
		p.launched = true
		p.settle()
		p.mu.Unlock()
		return attempt.Status{Condition: attempt.Running, Started: started}, p, nil
	case !ran:
		end = attempt.Status{Condition: attempt.Barred}
	case anyNever(states):
		end = attempt.Status{
			Condition: attempt.Lost, Reason: "not all of its processes were started", Started: end.Started,
			Ended: end.Ended,
		}
	}
	p.Detach()
	return end, nil, nil
}

func anyNever(states []attempt.Status) bool {
	for _, st := range states {
		switch st.Condition {
		case attempt.Unclaimed, attempt.Barred, attempt.NeverRan:
			return true
		default:
		}
	}
	return false
}

// worse returns which of two exits is that of the attempt: a failure before a checkpoint
// before success, the first of several failures.
func worse(a, b attempt.Status) attempt.Status {
	rank := func(st attempt.Status) int {
		switch {
		case st.Condition == 0:
			return 0
		case st.Condition == attempt.Exited && st.Code == 0:
			return 1
		case st.Condition == attempt.Exited && st.Code == batch.CheckpointStatus:
			return 2
		}
		return 3
	}
	x, y := rank(a), rank(b)
	earlier := cmp.Compare(b.Ended.UnixNano(), a.Ended.UnixNano()) < 0
	if y > x || y == x && y == 3 && earlier {
		return b
	}
	return a
}
