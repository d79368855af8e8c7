package server

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/server/loop"
)

// maxCalls bounds the calls of one turn: they share one sync, and a caller may have to wait for all
// of them.
const maxCalls = 256

// call is a function for the loop to run.
type call struct {
	loop.Call
	err  error // why it did not run or was rolled back; set before done is closed
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

// gather appends the waiting calls.
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

// arm sets the timer for the next turn that is due without calls.
func (s *Server) arm(timer *time.Timer) {
	at := s.turns.Wake()
	if s.disk.degraded() { // the only due work may be a write
		at = s.disk.next
	}
	if at == batch.Never {
		timer.Stop()
		return
	}
	timer.Reset(max(at.Sub(s.now()), 0).Std())
}

// turn runs one turn with calls. An error ends the server.
func (s *Server) turn(calls []loop.Call) error {
	s.turns.Turn(s.now(), calls)
	return s.broken
}

// spawn runs f in a goroutine until the server stops; called by the loop.
func (s *Server) spawn(f func()) {
	if !s.retired {
		s.work.Go(f)
	}
}

// do runs f on the loop and waits until its changes are durable. An error means that f did not run
// or was rolled back: it is that of ctx, errStopping, or the failure of the write.
func (s *Server) do(ctx context.Context, f func()) error { return s.ask(ctx, f, true) }

// see is do for an f that changes nothing. What f reads is durable, too.
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

// newPauses returns the pauses between retries of a local operation, from 50 ms to longest.
func newPauses(longest time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: 50 * time.Millisecond, Multiplier: 2, MaxInterval: longest}
}

// doRetry retries f until it commits, or ctx or the loop ends.
func (s *Server) doRetry(ctx context.Context, f func()) error {
	for pauses := newPauses(2 * time.Second); ; {
		err := s.do(ctx, f)
		if err == nil || ctx.Err() != nil || isStopping(err) {
			return err
		}
		select {
		case <-time.After(pauses.NextBackOff()):
		case <-s.over:
			return errStopping
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// now returns the current time of the batch system's clock, which the core uses.
func (s *Server) now() batch.Time { return s.system.Now() }
