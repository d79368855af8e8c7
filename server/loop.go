package server

import (
	"context"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
)

// maxCalls bounds how many calls one turn takes: what one sync pays for, and how
// long a caller may have to wait for others.
const maxCalls = 256

// call is something to be done by the loop.
type call struct {
	do     func()
	writes bool  // it may change what has to be durable
	err    error // why it was not done, or has come to nothing; set before done is closed
	done   chan struct{}
}

// loop is the goroutine that owns the core. It works in turns: it takes all calls
// that are there, does them, makes what they have changed durable in one
// transaction, and only then lets their callers, the batch system and other sites
// know.
func (s *Server) loop() {
	defer close(s.over)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		s.turnCalls = s.turnCalls[:0]
		s.arm(timer)
		select {
		case c := <-s.calls:
			s.turnCalls = append(s.turnCalls, c)
		case <-timer.C:
		case <-s.quit:
			return
		}
		s.gather()
		if err := s.turn(); err != nil {
			s.fail(err)
			return
		}
	}
}

// gather takes the calls that are waiting.
func (s *Server) gather() {
	for len(s.turnCalls) < maxCalls {
		select {
		case c := <-s.calls:
			s.turnCalls = append(s.turnCalls, c)
		default:
			return
		}
	}
}

// arm sets the timer to when the core wants something done.
func (s *Server) arm(timer *time.Timer) {
	at := s.core.Wake()
	if len(s.follows) > 0 {
		at = 0
	}
	if s.disk.degraded() { // what is to be written may be all that is to be done
		at = s.disk.next
	}
	if at == batch.Never {
		timer.Stop()
		return
	}
	timer.Reset(max(at.Sub(s.now()), 0).Std())
}

// turn does what has been gathered. An error ends the server.
func (s *Server) turn() error {
	now := s.now()
	full := s.disk.refuses(now, s.store)
	for _, c := range s.turnCalls {
		if full != nil && c.writes {
			c.err = full
			continue
		}
		c.do()
	}
	var err error
	if full == nil {
		err = s.conclude(now)
	}
	for _, c := range s.turnCalls {
		close(c.done)
	}
	return err
}

// conclude makes durable what a turn has changed and lets go of it. What finds no
// room on the disk is undone, and its callers are told so.
func (s *Server) conclude(now batch.Time) error {
	follows := s.follows
	s.follows = nil
	for _, do := range follows {
		do()
	}
	s.core.Tick(now)
	why := s.settle(now)
	if why == nil {
		s.release()
		return nil
	}
	for _, c := range s.turnCalls {
		c.err = why // reads, too: they may have seen what is undone now
	}
	return s.rebuild(why)
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
	c := &call{do: f, writes: writes, done: make(chan struct{})}
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

// insist is do for news that must not be lost: it tries until it is done, or ctx
// or the loop ends.
func (s *Server) insist(ctx context.Context, f func()) error {
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

// later has f done in the loop's next turn; called by the loop.
func (s *Server) later(f func()) { s.follows = append(s.follows, f) }

// now returns the present instant: the core lives on the batch system's clock.
func (s *Server) now() batch.Time { return s.system.Now() }
