package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// The pauses between tries to connect.
const (
	firstRetry   = 5 * time.Millisecond
	longestRetry = 2 * time.Second
)

// run keeps a connection until the client is closed. The outcome of the first
// connection goes to first.
func (c *Client) run(first chan<- error) {
	patience, cancel := context.WithTimeoutCause(c.ctx, ConnectPatience, errors.New("no patience left"))
	defer cancel()
	pause, told := firstRetry, false
	for c.ctx.Err() == nil {
		was := time.Now()
		err := c.session(func() {
			pause = firstRetry
			if !told {
				told = true
				first <- nil
			}
		})
		c.reap()
		if c.ctx.Err() != nil {
			break
		}
		if told {
			c.log.Warn("connection lost", "after", time.Since(was).Round(time.Millisecond), "error", err)
		} else if patience.Err() != nil || !transient(err) {
			first <- fmt.Errorf("supervisor: %w", err)
			return
		}
		wait(c.ctx, pause)
		pause = min(2*pause, longestRetry)
	}
	if !told {
		first <- context.Cause(c.ctx)
	}
}

// session is one connection, from the dial to its end.
func (c *Client) session(up func()) error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	next, stop, err := c.remote.Watch(ctx)
	if absent(err) {
		if err := c.spawn(ctx); err != nil && !errors.Is(err, ErrBusy) {
			return err
		}
		next, stop, err = c.remote.Watch(ctx)
	}
	if err != nil {
		return err
	}
	defer stop()
	if err := c.resume(ctx); err != nil {
		return err
	}
	l := &link{down: make(chan struct{}), drop: cancel}
	c.setLink(l)
	defer func() {
		c.setLink(nil)
		close(l.down)
	}()
	up()
	// Signals that came between the two.
	if err := c.deliver(ctx); err != nil {
		return err
	}
	for {
		n, err := next()
		if err != nil {
			return err
		}
		c.mu.Lock()
		p := c.processes[n.Name]
		c.mu.Unlock()
		if p != nil {
			p.take(n.Status)
		}
	}
}

// resume asks a supervisor that may be another one about all that is followed.
func (c *Client) resume(ctx context.Context) error {
	for _, p := range c.following() {
		if !p.isKnown() {
			continue // its launch is asked again
		}
		st, err := c.remote.Attach(ctx, p.attempt)
		switch {
		case errors.Is(err, rpc.ErrGone) || ctx.Err() != nil:
			return err
		case err != nil:
			p.lose(err)
		default:
			p.take(st)
		}
	}
	return c.deliver(ctx)
}

func (c *Client) deliver(ctx context.Context) error {
	for _, p := range c.following() {
		if err := p.deliver(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ask calls a supervisor until it has answered, or ctx ends.
func (c *Client) ask(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(c.ctx, func() { cancel(ErrClosed) })
	defer stop()
	for {
		l, err := c.await(ctx)
		if err != nil {
			return err
		}
		if err = call(ctx); !errors.Is(err, rpc.ErrGone) {
			return err
		}
		select { // the connection goes down as a rule
		case <-l.down:
		case <-ctx.Done():
		case <-time.After(longestRetry):
		}
	}
}

// await waits for a connection.
func (c *Client) await(ctx context.Context) (*link, error) {
	for {
		c.mu.Lock()
		l, changed := c.link, c.changed
		c.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// current returns the connection, or nil.
func (c *Client) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

func (c *Client) setLink(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = l
	close(c.changed)
	c.changed = make(chan struct{})
}

// absent reports whether nobody listens.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// transient reports whether another try to connect may end otherwise.
func transient(err error) bool { return errors.Is(err, rpc.ErrGone) || errors.Is(err, ErrBusy) }

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
