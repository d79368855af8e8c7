package remote

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// newPauses returns the pauses between two calls to a node that does not answer.
func newPauses() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: 20 * time.Millisecond, Multiplier: 2, MaxInterval: time.Second}
}

// callPatience bounds the calls of the watch itself, and signals.
const callPatience = 2 * time.Second

// run keeps a watch until the node is closed.
func (n *Node) run() {
	pauses := newPauses()
	for n.ctx.Err() == nil {
		n.mu.Lock()
		renewed := n.renewed
		n.mu.Unlock()
		err := n.session(pauses.Reset)
		if n.ctx.Err() != nil {
			return
		}
		n.log.Debug("watch failed", "error", err)
		// An unclaimed node is watched once it is claimed.
		_ = wait(n.ctx, renewed, pauses.NextBackOff()) // the loop checks ctx itself
	}
}

// session is one watch, from its beginning to its end.
func (n *Node) session(up func()) error {
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	n.mu.Lock()
	n.end = cancel
	n.mu.Unlock()
	number, next, stop, err := n.client.Watch(ctx, n.cfg.UseInterval)
	if err != nil {
		return err
	}
	defer stop()
	n.watched(true, number)
	defer n.watched(false, 0)
	if err := n.resume(ctx); err != nil {
		return err
	}
	up()
	for {
		m, err := next()
		if err != nil {
			return err
		}
		n.mu.Lock()
		p := n.processes[m.ID]
		var measured []*Task
		for _, u := range m.Use {
			measured = append(measured, n.processes[u.ID])
		}
		n.mu.Unlock()
		if p != nil && m.Status.Condition != 0 {
			p.take(m.Status)
		}
		for i, u := range m.Use {
			if measured[i] != nil {
				measured[i].measured(u.Use)
			}
		}
		if n.cfg.Measured != nil && len(m.Use) > 0 {
			n.cfg.Measured(m.Use)
		}
	}
}

// drop ends the watch, which starts a new one.
func (n *Node) drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.end != nil {
		n.end()
	}
}

// resume queries all followed tasks after a silence, and sends pauses and shares again.
func (n *Node) resume(ctx context.Context) error {
	for _, p := range n.following() {
		if err := n.resumeOne(ctx, p); err != nil {
			return err
		}
	}
	shares, o := n.shares()
	if len(shares) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	return n.client.SetShares(ctx, shares, o)
}

func (n *Node) resumeOne(ctx context.Context, p *Task) error {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	is, doubtful := p.follows()
	if !is {
		return nil // Launch repeats its call
	}
	st, err := n.client.Attach(ctx, p.id)
	if err == nil && doubtful && st.Condition == attempt.Unclaimed {
		// The launch may still be on its way, but no caller waits for it.
		var won bool
		if won, err = n.client.Bar(ctx, p.id); err == nil && !won {
			st, err = n.client.Attach(ctx, p.id)
		}
	}
	switch {
	case err == nil:
		p.known(st)
		return p.deliver(ctx)
	case errors.Is(err, node.ErrSilent), errors.Is(err, node.ErrUnreachable):
		return err
	}
	n.log.Warn("resume failed", "task", p.id, "error", err)
	return err
}

// wait waits for a channel or, if d is not 0, for that time.
func wait(ctx context.Context, c <-chan struct{}, d time.Duration) error {
	var after <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-c:
		return nil
	case <-after:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
