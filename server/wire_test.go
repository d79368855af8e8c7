package server

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// wire is a proxy to a server. It counts the bytes of the answers, and can cut or stall
// them once.
type wire struct {
	l      net.Listener
	to     string
	mu     sync.Mutex
	passed int64           // bytes of answers
	cut    int64           // cut the connection after this many; 0: never
	stall  int64           // stall after this many; 0: never
	stuck  chan struct{}   // closed when stalled
	free   chan struct{}   // closed by the test to resume
	all    []net.Conn      // open connections
	ended  *sync.WaitGroup // their goroutines
}

func newWire(t *testing.T) *wire {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{l: l, stuck: make(chan struct{}), free: make(chan struct{}), ended: new(sync.WaitGroup)}
	t.Cleanup(func() {
		w.l.Close()
		w.mu.Lock()
		for _, c := range w.all {
			c.Close()
		}
		select {
		case <-w.free:
		default:
			close(w.free)
		}
		w.mu.Unlock()
		w.ended.Wait()
	})
	return w
}

// lead starts to forward connections to a server.
func (w *wire) lead(to string) {
	w.to = to
	w.ended.Go(w.serve)
}

func (w *wire) serve() {
	for {
		from, err := w.l.Accept()
		if err != nil {
			return
		}
		to, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", w.to)
		if err != nil {
			from.Close()
			continue
		}
		w.mu.Lock()
		w.all = append(w.all, from, to)
		w.mu.Unlock()
		w.ended.Go(func() { _, _ = io.Copy(to, from); to.Close() })
		w.ended.Go(func() { _, _ = io.Copy(from, &counter{w, to}); from.Close(); to.Close() })
	}
}

// counter counts the bytes of answers that it reads.
type counter struct {
	w *wire
	net.Conn
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.w.mu.Lock()
	c.w.passed += int64(n)
	cut := c.w.cut > 0 && c.w.passed >= c.w.cut
	stall := c.w.stall > 0 && c.w.passed >= c.w.stall
	if cut {
		c.w.cut = 0
	}
	if stall {
		c.w.stall = 0
		close(c.w.stuck)
	}
	c.w.mu.Unlock()
	if stall {
		<-c.w.free
	}
	if cut {
		return 0, errors.New("cut")
	}
	return n, err
}

func (w *wire) came() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.passed
}
