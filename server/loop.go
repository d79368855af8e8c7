package server

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/loop"
)

// maxCalls bounds how many calls one turn takes: what one sync pays for, and how
// long a caller may have to wait for others.
const maxCalls = 256

// call is something to be done by the loop.
type call struct {
	loop.Call
	err  error // why it was not done, or is undone; set before done is closed
	done chan struct{}
}

// loop is the goroutine that owns the core. Package server/loop says what a turn does.
func (s *Server) loop() {
	defer close(s.over)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var calls []loop.Call
	for {
		calls = calls[:0]
		s.arm(timer)
		select {
		case c := <-s.calls:
			calls = append(calls, c.Call)
		case <-timer.C:
		case <-s.quit:
			return
		}
		calls = s.gather(calls)
		if err := s.turn(calls); err != nil {
			s.fail(err)
			return
		}
	}
}

// gather appends the calls that are waiting.
func (s *Server) gather(calls []loop.Call) []loop.Call {
	for len(calls) < maxCalls {
		select {
		case c := <-s.calls:
			calls = append(calls, c.Call)
		default:
			return calls
		}
	}
	return calls
}

// arm sets the timer to the next turn that is due without calls.
func (s *Server) arm(timer *time.Timer) {
	at := s.turns.Wake()
	if s.disk.degraded() { // what is to be written may be all that is to be done
		at = s.disk.next
	}
	if at == batch.Never {
		timer.Stop()
		return
	}
	timer.Reset(max(at.Sub(s.now()), 0).Std())
}

// turn does one turn with calls. An error ends the server.
func (s *Server) turn(calls []loop.Call) error {
	s.turns.Turn(s.now(), calls)
	return s.broken
}

// spawn runs f beside the loop until the server ends; called by the loop.
func (s *Server) spawn(f func()) {
	if !s.retired {
		s.work.Go(f)
	}
}

// do has f done by the loop, and waits until what it has changed is durable. An
// error means that f was not done, or is undone: that of ctx, errStopping, or why
// it could not be written.
func (s *Server) do(ctx context.Context, f func()) error { return s.ask(ctx, f, true) }

// see is do for an f that changes nothing. What it has seen is durable, too.
func (s *Server) see(ctx context.Context, f func()) error { return s.ask(ctx, f, false) }

func (s *Server) ask(ctx context.Context, f func(), writes bool) error {
	c := &call{done: make(chan struct{})}
	c.Call = loop.Call{Do: f, Writes: writes, Done: func(err error) {
		c.err = err
		close(c.done)
	}}
	select {
	case s.calls <- c:
		<-c.done
		return c.err
	case <-s.over:
		return errStopping
	case <-ctx.Done():
		return ctx.Err()
	}
}

// doRetry retries f until it commits, or ctx or the loop ends.
func (s *Server) doRetry(ctx context.Context, f func()) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := s.do(ctx, f)
		if err == nil || ctx.Err() != nil || isStopping(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-s.over:
			return errStopping
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// now returns the present instant: the core lives on the batch system's clock.
func (s *Server) now() batch.Time { return s.system.Now() }
