package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// The pauses between tries to connect.
const (
	firstRetry   = 5 * time.Millisecond
	longestRetry = 2 * time.Second
)

// run keeps a connection until the client is closed. The outcome of the first connection goes
// to first.
func (c *Client) run(first chan<- error) {
	patience, cancel := context.WithTimeoutCause(c.ctx, ConnectPatience, errors.New("connect timeout"))
	defer cancel()
	pauses := &backoff.ExponentialBackOff{InitialInterval: firstRetry, Multiplier: 2, MaxInterval: longestRetry}
	connected := false
	for c.ctx.Err() == nil {
		was := time.Now()
		err := c.session(func() {
			pauses.Reset()
			if !connected {
				connected = true
				first <- nil
			}
		})
		c.reap()
		if c.ctx.Err() != nil {
			break
		}
		if connected {
			c.log.Warn("connection lost", "after", time.Since(was).Round(time.Millisecond), "error", err)
		} else if patience.Err() != nil || !transient(err) {
			first <- fmt.Errorf("supervisor: %w", err)
			return
		}
		wait(c.ctx, pauses.NextBackOff())
	}
	if !connected {
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
	// Signals that were stored in between.
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

// resume asks a supervisor, which can be a new one, about all followed attempts.
func (c *Client) resume(ctx context.Context) error {
	for _, p := range c.following() {
		if !p.isKnown() {
			continue // Spawn repeats its call
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

// ask repeats a call until a supervisor has answered, or ctx ends.
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
		select { // the connection usually goes down
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

// absent reports whether no process listens.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// transient reports whether a retry of the connection can succeed.
func transient(err error) bool { return errors.Is(err, rpc.ErrGone) || errors.Is(err, ErrBusy) }

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// remote is the supervisor of a directory, whichever process that is at the time.
type remote struct {
	*rpc.Client
	conns *conns
}

func newRemote(dir string) remote {
	open := &conns{dir: dir, all: make(map[*conn]struct{})}
	return remote{rpc.NewClient(open.dial), open}
}

// conns are the open connections of a client. A transport closes only those that it knows to
// be idle, but the supervisor does not exit while one is open.
type conns struct {
	dir string

	mu     sync.Mutex
	all    map[*conn]struct{}
	closed bool
}

// conn is one of them.
type conn struct {
	net.Conn
	of *conns
}

func (cs *conns) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	made, err := dial(ctx, cs.dir)
	if err != nil {
		return nil, err
	}
	c := &conn{made, cs}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		_ = made.Close() // nothing was sent on it
		return nil, ErrClosed
	}
	cs.all[c] = struct{}{}
	return c, nil
}

// Close closes the connection.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.all, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// close closes all connections, and those dialed from now on.
func (cs *conns) close() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.closed = true
	for c := range cs.all {
		_ = c.Conn.Close() // no caller waits for an answer
	}
	clear(cs.all)
}

// readyFD is where a started supervisor reports its state.
const readyFD = "3"

// spawn starts a supervisor and waits until it can be dialed. ErrBusy means that another one
// holds the directory.
func (c *Client) spawn(ctx context.Context) error {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start a supervisor: %w", err)
	}
	defer ours.Close()
	err = c.start(theirs)
	if err := errors.Join(err, theirs.Close()); err != nil {
		return fmt.Errorf("start a supervisor: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = ours.Close() })
	defer stop()
	text, err := bufio.NewReader(io.LimitReader(ours, 4096)).ReadString('\n')
	text = strings.TrimSpace(text)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case text == "ready":
		c.log.Info("supervisor started")
		return nil
	case text == "busy":
		return ErrBusy
	case text != "":
		return errors.New(strings.TrimPrefix(text, "error: "))
	}
	return fmt.Errorf("%w: it ended before it was ready, see %s (%w)", rpc.ErrGone, filepath.Join(c.cfg.Dir, logName),
		err)
}

// start starts the process in a new session, so signals of this process's terminal do not
// reach it, and without open files of this process.
func (c *Client) start(ready *os.File) error {
	log, err := os.OpenFile(filepath.Join(c.cfg.Dir, logName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	program := slices.Clone(c.cfg.Program)
	if filepath.Base(program[0]) != program[0] { // its working directory is another one
		if program[0], err = filepath.Abs(program[0]); err != nil {
			return err
		}
	}
	args := append(program[1:], "--dir", c.cfg.Dir, "--ready-fd", readyFD)
	// It must outlive this process, so no context ends it.
	if c.cfg.Leased {
		args = append(args, "--leased")
	}
	cmd := osexec.Command(program[0], args...) //nolint:noctx // see above
	cmd.Args[0] = "drover"                     // its name in ps
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{ready}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.mu.Lock()
	c.children = append(c.children, cmd.Process.Pid)
	c.mu.Unlock()
	return cmd.Process.Release() // reaped by its number
}

// reap reaps supervisors that were started here and have ended.
func (c *Client) reap() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.children = slices.DeleteFunc(c.children, func(pid int) bool {
		got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		return got == pid || err != nil && !errors.Is(err, syscall.EINTR)
	})
}
