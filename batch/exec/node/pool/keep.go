package pool

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

// keep renews the lease of a node while the pool is open, and reports when the node leaves,
// joins, or its members are lost.
func (e *peer) keep() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-e.wake:
		case <-e.pool.ctx.Done():
			return
		}
		e.contact()
		e.tell()
		e.lapse()
		timer.Reset(e.pause())
	}
}

// pause returns the time until the next renewal.
func (e *peer) pause() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.up:
		return e.pool.cfg.beat()
	case e.lapsed:
		return e.pool.cfg.again()
	}
	return min(e.pool.cfg.again(), max(time.Until(e.over), 0))
}

// contact tries to renew the lease.
func (e *peer) contact() {
	e.mu.Lock()
	limit := e.pool.cfg.patience()
	if !e.lapsed {
		limit = min(limit, max(time.Until(e.over), 0))
	}
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(e.pool.ctx, limit)
	defer cancel()
	err := e.node.Renew(ctx, e.pool.cfg.Lease)
	var unfit *UnfitError
	if err == nil || errors.As(err, &unfit) {
		e.mu.Lock()
		// By then everything that was ever sent is over, whatever happens to the next renewal.
		e.over = time.Now().Add(e.pool.cfg.Lease + e.pool.cfg.Margin)
		e.mu.Unlock()
		if buried := e.fence(); buried != nil {
			err, unfit = buried, nil
		}
	}
	if e.pool.ctx.Err() != nil {
		return
	}
	e.mu.Lock()
	was := e.isUp()
	e.up, e.unfit, e.asked = err == nil || unfit != nil, unfit != nil, true
	if e.up {
		e.lapsed = false
	}
	e.turn()
	unsent := e.up && len(e.shares) > 0
	said := e.why
	if e.why = ""; err != nil {
		e.why = err.Error()
	}
	e.mu.Unlock()
	switch {
	case err == nil && !was:
		e.pool.log.Info("node is up", "node", e.name)
	case err != nil && (was || err.Error() != said):
		e.pool.log.Warn("node is down", "node", e.name, "error", err)
	}
	if unsent {
		e.send()
	}
}

// fence makes sure that nothing is left of members that were given up, before the node is up
// again.
func (e *peer) fence() error {
	for {
		e.mu.Lock()
		if len(e.abandoned) == 0 {
			e.mu.Unlock()
			return nil
		}
		id := e.abandoned[0]
		e.mu.Unlock()
		ctx, cancel := context.WithTimeout(e.pool.ctx, e.pool.cfg.patience())
		err := e.bury(ctx, id)
		cancel()
		if err != nil {
			return fmt.Errorf("job %s, which was given up: %w", id.Key.Job, err)
		}
		e.mu.Lock()
		e.abandoned = e.abandoned[1:]
		e.mu.Unlock()
	}
}

// bury bars a task, or kills it.
func (e *peer) bury(ctx context.Context, id ID) error {
	won, err := e.node.Bar(ctx, id)
	if won || err != nil {
		return err
	}
	st, proc, err := e.node.Attach(ctx, id)
	if err != nil || st.Condition != attempt.Running || proc == nil {
		return err
	}
	e.pool.log.Error("task has outlived its lease, killing it", "node", e.name, "job", id.Key.Job, "rank", id.Rank)
	over := make(chan struct{})
	e.pool.spawn(func() {
		proc.Wait()
		close(over)
	})
	defer detach(proc)
	if err := proc.Signal(syscall.SIGKILL); err != nil && !isDone(err) {
		return err
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tell reports the state of a node to the follower, if it has changed.
func (e *peer) tell() {
	e.telling.Lock()
	defer e.telling.Unlock()
	changed := e.pool.follower()
	if changed == nil {
		return
	}
	e.mu.Lock()
	up, reported := e.isUp(), e.reported
	known := e.asked
	e.mu.Unlock()
	if !known || up == reported {
		return
	}
	for _, n := range e.indices {
		changed(n, up)
	}
	e.mu.Lock()
	e.reported = up
	e.turn()
	e.mu.Unlock()
}

// lapse gives up the members of a node after its lease is over, including those recovered later.
func (e *peer) lapse() {
	e.mu.Lock()
	due := !e.up && !time.Now().Before(e.over) && (!e.lapsed || len(e.members) > 0)
	e.mu.Unlock()
	if !due {
		return
	}
	reason := fmt.Sprintf("node %s did not answer for longer than its lease of %v", e.name, e.pool.cfg.Lease)
	for _, m := range e.list() {
		e.mu.Lock()
		e.abandoned = append(e.abandoned, m.id)
		e.mu.Unlock()
		m.lose(reason)
	}
	e.mu.Lock()
	e.lapsed = true
	e.turn()
	e.mu.Unlock()
}
