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

// leaseLook bounds the interval between checks of a lease: timers do not count the time for
// which a host sleeps, and a lease does.
const leaseLook = time.Second

// lapseReason is the public message for programs that were killed.
const lapseReason = "killed: the lease of its node was not renewed"

// lease determines until when programs may run. Instants are durations since the boot of the
// host. It does no I/O.
type lease struct {
	id     string
	wake   chan struct{} // signals a renewal; holds one
	newest time.Duration // when the token of the last renewal was made
	length time.Duration
	until  time.Duration // 0: it is not held
	ends   int           // how often it has ended
}

func newLease(id string) *lease { return &lease{id: id, wake: make(chan struct{}, 1)} }

// token makes a token.
func (l *lease) token(now time.Duration) attempt.Token {
	return attempt.Token(l.id + "@" + strconv.FormatInt(int64(now), 10))
}

// made returns when a token was made, if this supervisor made it.
func (l *lease) made(t attempt.Token, now time.Duration) (time.Duration, bool) {
	id, text, _ := strings.Cut(string(t), "@")
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(n), err == nil && id == l.id && n >= 0 && time.Duration(n) <= now
}

// renew applies a token unless it is too old. The caller has called over before.
func (l *lease) renew(t attempt.Token, d, now time.Duration) {
	made, ok := l.made(t, now)
	// A renewal that was overtaken by a later one has no effect.
	if !ok || made < l.newest || made+d <= now {
		return
	}
	l.newest, l.length, l.until = made, d, made+d
}

func (l *lease) held(now time.Duration) bool { return now < l.until }

// covers reports whether a call with that token may be carried out. The sender of a token as
// old as the lease may already have given the call up.
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
	s.lapse(now) // a lease that has ended is not renewed; a new one begins
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
			continue // its spawn will see that the lease has ended, or it has ended itself
		}
		n++
		groups = append(groups, t.groups...)
		s.killLapsed(t)
	}
	s.log.Warn("lease ended, killing all programs", "programs", n)
	go process.StrikeGroups(groups)
}

// killLapsed kills a program after its lease has ended. The caller holds mu.
func (s *supervisor) killLapsed(t *program) {
	t.leaseEnded, t.struck = true, true
	if err := s.reaper.Signal(t.pid, syscall.SIGKILL); err != nil {
		s.log.Debug("kill failed", "attempt", t.Mark(), "error", err)
	}
}

// covered reports whether a call may be carried out.
func (s *supervisor) covered(t attempt.Token) bool {
	if s.lease == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.covers(t, sinceBoot())
}

// enter puts a process that waits at its gate into its control groups, and checks the lease
// for the last time.
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

// running records the process of a program that has been executed.
func (s *supervisor) running(t *program, pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.pid = pid
	if s.lease != nil && s.lease.ends != t.ends {
		s.killLapsed(t)
		go process.StrikeGroups(t.groups)
	}
}

// verdict returns how an attempt ended: a program that was killed with the lease is lost.
func (s *supervisor) verdict(t *program, st attempt.Status) attempt.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.leaseEnded && st.Condition == attempt.Signaled && st.Signal == syscall.SIGKILL {
		st.Condition, st.Signal, st.Reason = attempt.Lost, 0, lapseReason
	}
	return st
}

// Renew renews the lease of a supervisor that was started with Config.Leased, and returns the
// token of the next renewal. A token that is too old, or that another supervisor made, renews
// nothing. While no supervisor can be reached, Renew waits.
func (c *Client) Renew(
	ctx context.Context, t attempt.Token, d time.Duration,
) (next attempt.Token, held bool, err error) {
	err = c.ask(ctx, func(ctx context.Context) (err error) {
		next, held, err = c.remote.Renew(ctx, t, d)
		return err
	})
	return next, held, err
}

// idle decides when a supervisor may exit: when no client is connected and no attempt is left
// for a while; or, after stop, as soon as no attempt is left.
type idle struct {
	linger time.Duration
	over   chan struct{} // closed at the end
	timer  *time.Timer   // runs while it may end
	fire   func()        // calls lapsed with the lock held

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

// stop requests the end as soon as no attempt is left.
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

// lapsed is called after linger, possibly by a timer that was stopped too late.
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
