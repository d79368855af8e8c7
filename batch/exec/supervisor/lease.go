package supervisor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
)

// The bounds of a lease.
const (
	ShortestLease = 10 * time.Millisecond
	LongestLease  = 24 * time.Hour
)

// leaseLook is how often a lease is looked at while nothing is due: timers do not
// count the time for which a host sleeps, and a lease does.
const leaseLook = time.Second

// lapseReason is why programs were killed.
const lapseReason = "killed: nobody renewed the lease of its node"

// lease says until when programs may run. Instants are durations since the boot of
// the host. A core.
type lease struct {
	id     string
	wake   chan struct{} // told of a renewal; holds one
	newest time.Duration // when the token was made that renewed it last
	length time.Duration
	until  time.Duration // 0: it is not held
	ends   int           // how often it has ended
}

func newLease(id string) *lease { return &lease{id: id, wake: make(chan struct{}, 1)} }

// token makes one.
func (l *lease) token(now time.Duration) attempt.Token {
	return attempt.Token(l.id + "@" + strconv.FormatInt(int64(now), 10))
}

// made returns when a token was made, if it is one of this supervisor's.
func (l *lease) made(t attempt.Token, now time.Duration) (time.Duration, bool) {
	id, text, _ := strings.Cut(string(t), "@")
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(n), err == nil && id == l.id && n >= 0 && time.Duration(n) <= now
}

// renew takes a token that is not too old. The caller has asked over before.
func (l *lease) renew(t attempt.Token, d, now time.Duration) {
	made, ok := l.made(t, now)
	// A renewal that was overtaken says nothing new.
	if !ok || made < l.newest || made+d <= now {
		return
	}
	l.newest, l.length, l.until = made, d, made+d
}

func (l *lease) held(now time.Duration) bool { return now < l.until }

// covers reports whether an order with that token may be carried out. One that is
// as old as a lease may have been given up by whoever sent it.
func (l *lease) covers(t attempt.Token, now time.Duration) bool {
	made, ok := l.made(t, now)
	return ok && l.held(now) && now < made+l.length
}

// over reports, once, that the lease has ended.
func (l *lease) over(now time.Duration) bool {
	if l.until == 0 || l.held(now) {
		return false
	}
	l.until = 0
	l.ends++
	return true
}

// Renew renews the lease and returns the next token.
func (s *supervisor) Renew(t attempt.Token, d time.Duration) (next attempt.Token, held bool, err error) {
	switch {
	case s.lease == nil:
		return nil, false, errors.New("this supervisor runs programs without a lease")
	case d < ShortestLease || d > LongestLease:
		return nil, false, fmt.Errorf("duration: %v, accepted: %v to %v", d, ShortestLease, LongestLease)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := sinceBoot()
	s.lapse(now) // what has ended is not renewed, but begins anew
	s.lease.renew(t, d, now)
	select {
	case s.lease.wake <- struct{}{}:
	default:
	}
	return s.lease.token(now), s.lease.held(now), nil
}

// keepLease kills all programs when the lease has ended.
func (s *supervisor) keepLease() {
	timer := time.NewTimer(leaseLook)
	defer timer.Stop()
	for {
		s.mu.Lock()
		now := sinceBoot()
		s.lapse(now)
		pause := leaseLook
		if s.lease.until > 0 {
			pause = min(pause, s.lease.until-now)
		}
		over := s.idle.over
		s.mu.Unlock()
		timer.Reset(pause)
		select {
		case <-timer.C:
		case <-s.lease.wake:
		case <-over:
			return
		}
	}
}

// lapse kills all programs if the lease has ended. The caller holds mu.
func (s *supervisor) lapse(now time.Duration) {
	if !s.lease.over(now) {
		return
	}
	var groups []string
	n := 0
	for _, t := range s.attempts {
		if t.pid == 0 || t.status.Condition != 0 && t.status.Condition != attempt.Running {
			continue // its launch sees that the lease has ended, or it has ended itself
		}
		n++
		groups = append(groups, t.groups...)
		s.killLapsed(t)
	}
	s.log.Warn("the lease has ended, killing all programs", "programs", n)
	go process.StrikeGroups(groups)
}

// killLapsed kills a program whose lease has ended. The caller holds mu.
func (s *supervisor) killLapsed(t *program) {
	t.lapsed = true
	if err := s.reaper.Signal(t.pid, syscall.SIGKILL); err != nil {
		s.log.Debug("not killed", "attempt", t.Mark(), "error", err)
	}
}

// covered reports whether an order may be carried out.
func (s *supervisor) covered(t attempt.Token) bool {
	if s.lease == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.covers(t, sinceBoot())
}

// enter puts a process that waits at its gate where it is to be, and looks a last
// time whether it may run.
func (s *supervisor) enter(t *program, pid int, token attempt.Token) error {
	if s.guard != nil && len(t.groups) > 0 {
		if err := s.guard.Add(t.groups); err != nil {
			return fmt.Errorf("%w: %w", process.ErrGroup, err)
		}
	}
	if err := process.EnterGroups(t.groups, pid); err != nil {
		return err
	}
	if s.lease == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.ends = s.lease.ends
	if !s.lease.covers(token, sinceBoot()) {
		return attempt.ErrNoLease
	}
	return nil
}

// running enters the process of a program that is executed by now.
func (s *supervisor) running(t *program, pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.pid = pid
	if s.lease != nil && s.lease.ends != t.ends {
		s.killLapsed(t)
		go process.StrikeGroups(t.groups)
	}
}

// verdict is how an attempt ended: who died with the lease has not ended as it
// would have.
func (s *supervisor) verdict(t *program, st attempt.Status) attempt.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.lapsed && st.Condition == attempt.Signaled && st.Signal == syscall.SIGKILL {
		st.Condition, st.Signal, st.Reason = attempt.Lost, 0, lapseReason
	}
	return st
}

// Renew renews the lease of a supervisor that was started with one (see
// Config.Leased) and returns the token of the next renewal. A token that is too old
// or another supervisor's renews nothing. While no supervisor can be reached it waits.
func (c *Client) Renew(ctx context.Context, t attempt.Token, d time.Duration) (next attempt.Token, held bool, err error) {
	err = c.ask(ctx, func(ctx context.Context) (err error) {
		next, held, err = c.remote.Renew(ctx, t, d)
		return err
	})
	return next, held, err
}

// idle says when a supervisor may end: nobody is connected and nothing is left
// for a while; or, after stop, as soon as nothing is left.
type idle struct {
	linger time.Duration
	over   chan struct{} // closed at the end
	timer  *time.Timer   // runs while it may end
	fire   func()        // calls ended with the lock held

	connections, attempts int
	stopping, closed      bool
}

func (i *idle) update(attempts int) {
	i.attempts = attempts
	i.look()
}

func (i *idle) connected(change int) {
	i.connections += change
	i.look()
}

// stop asks for an end as soon as no attempt is left.
func (i *idle) stop() {
	i.stopping = true
	i.look()
}

func (i *idle) look() {
	switch {
	case i.attempts == 0 && i.stopping:
		i.end()
	case i.attempts == 0 && i.connections == 0:
		if i.timer == nil {
			i.timer = time.AfterFunc(i.linger, i.fire)
		}
	case i.timer != nil:
		i.timer.Stop()
		i.timer = nil
	}
}

// lapsed is called after linger, perhaps by a timer that was stopped too late.
func (i *idle) lapsed() {
	if i.attempts == 0 && i.connections == 0 && i.timer != nil {
		i.end()
	}
}

func (i *idle) end() {
	if !i.closed {
		i.closed = true
		close(i.over)
	}
}
