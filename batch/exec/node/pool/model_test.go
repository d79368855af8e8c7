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

// world is the model of a site: its machines and a network that disturbs messages.
//
//	Pool ─ stub ─ message ──(to)──▶ machine     each way can lose, delay, hold
//	             ◀─(from)── answer ──┘
//
// One mutex guards the whole world.
type world struct {
	mu       sync.Mutex
	seed     uint64 // of delays
	machines []*machine
	flights  sync.WaitGroup // messages on their way
	reported []bool         // node states reported by Follow, in this process of the server
	attempts map[batch.Key]*modelAttempt
	wrong    []string // violations
}

func (w *world) complain(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// way is one direction between the server and a machine.
type way struct {
	cut    bool
	holds  bool          // messages arrive after the cut ends; else they are lost
	opened chan struct{} // closed when the cut ends
}

// machine is a node with its daemon, its supervisor and its disk.
type machine struct {
	w         *world
	index     int
	drift     float64 // by which its clock is slower
	to, from  way
	slow      time.Duration // longest delay of a message
	daemon    bool          // the daemon runs
	life      int           // of the supervisor
	disturbed bool          // at any time
	immortal  bool          // its tasks outlive their lease, as on a host that was stopped

	newest, until time.Time // of the lease
	length        time.Duration
	timer         *time.Timer

	bodies map[ID]*body // its journal: started members
	barred map[ID]bool  // and members that never start
}

// token is the token of a lease.
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
	obeys    bool // it ends on SIGTERM
	frozen   bool
	termed   bool // it got SIGTERM while it was frozen
	share    batch.Share
	order    int // of the last share
	signaled int // of the last signal
}

// drifted returns the real duration of d on the machine's clock.
func (m *machine) drifted(d time.Duration) time.Duration {
	return d + time.Duration(float64(d)*m.drift)
}

// renew renews the lease in the supervisor.
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

// lapse kills all members if the lease has ended.
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

// launch claims a member and starts it if the lease covers the call.
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

// crash kills the supervisor and all its programs.
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

// signal delivers a signal unless a later one was delivered before. It returns false if the
// member has ended.
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

// setCut makes one way lose, hold or pass messages from now on.
func (w *world) setCut(v *way, cut, holds bool) {
	if v.cut && !cut {
		close(v.opened)
	}
	if cut && !v.cut {
		v.opened = make(chan struct{})
	}
	v.cut, v.holds = cut, holds
}

// pass waits until a message can continue; false if it is lost.
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

// delay returns the delay of a message. It does not depend on the goroutine scheduler, so a
// plan is reproducible.
func (m *machine) delay(what string) time.Duration {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, m.w.seed, m.index, time.Now().UnixNano(), what) // a hash never fails
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return time.Millisecond + time.Duration(h.Sum64()%uint64(10*time.Millisecond+m.slow))
}

// running returns the number of an attempt's members on hosts that enforce their leases.
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
