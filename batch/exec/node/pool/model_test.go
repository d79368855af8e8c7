package pool

import (
	"fmt"
	"hash/fnv"
	"sync"
	"syscall"
	"testing/synctest"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
)

// world is a site in a model: its machines, and what the network does to messages.
//
//	Pool ─ stub ─ message ──(to)──▶ machine     each way loses, delays, holds
//	             ◀─(from)── answer ──┘
//
// One mutex guards all of it.
type world struct {
	mu       sync.Mutex
	seed     uint64 // of delays
	machines []*machine
	flights  sync.WaitGroup // messages on their way
	told     []bool         // by Follow, in this process of the server
	attempts map[batch.Key]*modelAttempt
	wrong    []string // what must not be
}

func (w *world) complain(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// way is one direction between the server and a machine.
type way struct {
	cut    bool
	holds  bool          // what is sent meanwhile arrives when it is not cut any more
	opened chan struct{} // closed then
}

// machine is a node with its daemon, its supervisor and its disk.
type machine struct {
	w         *world
	index     int
	drift     float64 // so much slower is its clock
	to, from  way
	slow      time.Duration // each message takes up to so long
	daemon    bool          // it answers
	life      int           // of the supervisor
	disturbed bool          // ever
	immortal  bool          // its tasks outlive their lease, as those of a host that was stopped do

	newest, until time.Time // of the lease
	length        time.Duration
	timer         *time.Timer

	bodies map[ID]*body // its journal: what was started,
	barred map[ID]bool  // and what never will be
}

// token is a lease's.
type token struct {
	life int
	made time.Time
}

// body is a member that was started.
type body struct {
	id       ID
	gone     bool
	exit     exec.Exit
	ended    time.Time
	obeys    bool // SIGTERM
	frozen   bool
	termed   bool // while it was frozen
	share    batch.Share
	order    int // of the last share
	signaled int // of the last signal
}

// drifted is how long d by the machine's clock is.
func (m *machine) drifted(d time.Duration) time.Duration {
	return d + time.Duration(float64(d)*m.drift)
}

// renew is the supervisor's.
func (m *machine) renew(t token, d time.Duration) (next token, held bool) {
	now := time.Now()
	m.lapse()
	if t.life == m.life && !t.made.Before(m.newest) && t.made.Add(m.drifted(d)).After(now) {
		m.newest, m.length, m.until = t.made, d, t.made.Add(m.drifted(d))
		if m.timer != nil {
			m.timer.Stop()
		}
		m.timer = time.AfterFunc(m.until.Sub(now), func() {
			m.w.mu.Lock()
			defer m.w.mu.Unlock()
			m.lapse()
		})
	}
	return token{m.life, now}, now.Before(m.until)
}

// lapse kills everything if the lease has ended.
func (m *machine) lapse() {
	if !m.until.IsZero() && !time.Now().Before(m.until) {
		m.until = time.Time{}
		if !m.immortal {
			m.kill("the lease has ended")
		}
	}
}

func (m *machine) kill(reason string) {
	for _, b := range m.bodies {
		b.end(exec.Exit{Lost: true, Reason: reason})
	}
}

func (m *machine) covers(t token) bool {
	now := time.Now()
	return t.life == m.life && now.Before(m.until) && now.Before(t.made.Add(m.drifted(m.length)))
}

// launch claims a member and starts it, if it is covered.
func (m *machine) launch(t TaskSpec, with token) (st attempt.Status, held bool) {
	switch {
	case m.bodies[t.ID] != nil:
		return m.bodies[t.ID].status(), true
	case m.barred[t.ID]:
		return attempt.Status{Condition: attempt.Barred}, true
	case !m.covers(with):
		return attempt.Status{}, false
	}
	b := &body{id: t.ID, share: t.Spec.Allocation[0].Share, obeys: true}
	m.bodies[t.ID] = b
	m.w.started(m, b)
	return b.status(), true
}

func (m *machine) attach(id ID) attempt.Status {
	switch {
	case m.bodies[id] != nil:
		return m.bodies[id].status()
	case m.barred[id]:
		return attempt.Status{Condition: attempt.Barred}
	}
	return attempt.Status{Condition: attempt.Unclaimed}
}

func (m *machine) bar(id ID) bool {
	if m.bodies[id] != nil {
		return false
	}
	m.barred[id] = true
	return true
}

// crash kills the supervisor, and with it all that it runs.
func (m *machine) crash() {
	m.kill("its supervisor was killed")
	m.life++
	m.newest, m.until = time.Time{}, time.Time{}
	if m.timer != nil {
		m.timer.Stop()
	}
}

func (b *body) end(exit exec.Exit) {
	if !b.gone {
		b.gone, b.exit, b.ended = true, exit, time.Now()
	}
}

func (b *body) status() attempt.Status {
	st := attempt.Status{Condition: attempt.Running, Started: time.Unix(1000, 0)}
	switch {
	case !b.gone:
	case b.exit.Lost:
		st = attempt.Status{Condition: attempt.Lost, Reason: b.exit.Reason, Ended: b.ended}
	case b.exit.Signal != 0:
		st = attempt.Status{Condition: attempt.Signaled, Signal: b.exit.Signal, Ended: b.ended}
	default:
		st = attempt.Status{Condition: attempt.Exited, Code: b.exit.Code, Ended: b.ended}
	}
	return st
}

// signal delivers one, unless a later one was delivered before. False: it has ended.
func (b *body) signal(sig syscall.Signal, order int) bool {
	if b.gone {
		return false
	}
	if order < b.signaled {
		return true
	}
	b.signaled = order
	switch sig {
	case syscall.SIGSTOP:
		b.frozen = true
	case syscall.SIGCONT:
		b.frozen = false
	case syscall.SIGTERM:
		b.termed = b.termed || b.obeys
	case syscall.SIGKILL:
		b.end(exec.Exit{Signal: sig})
	}
	if b.termed && !b.frozen {
		b.end(exec.Exit{Signal: syscall.SIGTERM})
	}
	return true
}

// setCut loses or holds what is sent one way from now on, or lets it through.
func (w *world) setCut(v *way, cut, holds bool) {
	if v.cut && !cut {
		close(v.opened)
	}
	if cut && !v.cut {
		v.opened = make(chan struct{})
	}
	v.cut, v.holds = cut, holds
}

// pass waits until a message can go on; false if it is lost, which is known by then.
func (w *world) pass(v *way) bool {
	lost := false
	for {
		w.mu.Lock()
		cut, holds, opened := v.cut, v.holds, v.opened
		w.mu.Unlock()
		if !cut {
			return !lost
		}
		lost = lost || !holds
		<-opened
	}
}

// delay is how long a message takes. It depends on nothing that a scheduler decides, so
// that what a plan leads to can be seen again.
func (m *machine) delay(what string) time.Duration {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, m.w.seed, m.index, time.Now().UnixNano(), what) // a hash takes everything
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return time.Millisecond + time.Duration(h.Sum64()%uint64(10*time.Millisecond+m.slow))
}

// running counts the members of an attempt that run on hosts that keep their leases.
func (w *world) running(key batch.Key) (n int) {
	for _, m := range w.machines {
		for id, b := range m.bodies {
			if id.Key == key && !b.gone && !m.immortal {
				n++
			}
		}
	}
	return n
}

// sleep sleeps in virtual time.
func sleep(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // virtual time
}

// settled sleeps, and waits until no goroutine is runnable at that instant.
func settled(d time.Duration) {
	sleep(d)
	synctest.Wait()
}
