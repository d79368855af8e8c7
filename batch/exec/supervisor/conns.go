package supervisor

import (
	"context"
	"net"
	"sync"

	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// remote is the supervisor of a directory, whichever process that is at the time.
type remote struct {
	*rpc.Client
	conns *conns
}

func newRemote(dir string) remote {
	open := &conns{dir: dir, all: make(map[*conn]struct{})}
	return remote{rpc.NewClient(open.dial), open}
}

// conns are the open connections of a client. A transport closes those only that
// have been idle long enough for it to know; a supervisor stays for every one.
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
		_ = made.Close() // nothing went through it
		return nil, ErrClosed
	}
	cs.all[c] = struct{}{}
	return c, nil
}

// Close closes one.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.all, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// close closes all, and those that are dialled from now on.
func (cs *conns) close() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.closed = true
	for c := range cs.all {
		_ = c.Conn.Close() // nobody waits for an answer any more
	}
	clear(cs.all)
}
