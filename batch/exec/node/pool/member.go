package pool

import (
	"errors"
	"os"
	"syscall"

	"github.com/seed-9b8f70bb/drover/batch/exec"
)

// member is one process of an attempt.
type member struct {
	of   *Attempt
	id   ID
	peer *peer

	// What follows is guarded by of.mu.
	proc    exec.Launched // nil until it is known to run
	over    bool
	exit    exec.Exit
	queue   []syscall.Signal // not sent yet, in order
	sending bool
	heard   bool // it may have been told to end
}

// runs takes what a member runs as, and follows it.
func (m *member) runs(proc exec.Launched) {
	m.of.mu.Lock()
	over := m.over
	if !over {
		m.proc = proc
		m.deliver()
	}
	m.of.mu.Unlock()
	if over { // it was given up, or everybody is detached
		detach(proc)
	}
	m.of.pool.spawn(func() {
		if exit := proc.Wait(); !exit.Detached {
			m.end(exit)
		}
	})
	if m.of.pool.ctx.Err() != nil { // Close may have passed it over
		m.of.Detach()
	}
}

// lose ends a member of which nobody knows how it has ended.
func (m *member) lose(reason string) {
	m.end(exec.Exit{Lost: true, Reason: reason})
}

// end takes how it has ended, the first time.
func (m *member) end(exit exec.Exit) {
	m.of.mu.Lock()
	if m.over {
		m.of.mu.Unlock()
		return
	}
	m.over, m.exit, m.queue = true, exit, nil
	proc := m.proc
	m.of.ended(m)
	m.of.mu.Unlock()
	m.peer.leave(m)
	if proc != nil {
		detach(proc)
	}
}

// deliver sends the signals that wait, if nobody does. The caller holds of.mu.
func (m *member) deliver() {
	if m.sending || m.proc == nil || len(m.queue) == 0 {
		return
	}
	m.sending = true
	m.of.pool.spawn(m.sendSignals)
}

func (m *member) sendSignals() {
	m.of.mu.Lock()
	defer m.of.mu.Unlock()
	for len(m.queue) > 0 {
		sig := m.queue[0]
		m.queue = m.queue[1:]
		heard := m.heard
		m.heard = heard || ends(sig) // until it is known that it was not
		m.of.mu.Unlock()
		err := m.proc.Signal(sig)
		m.of.mu.Lock()
		if isDone(err) {
			m.heard = heard
		} else if err != nil {
			m.of.pool.log.Warn("signal not delivered", "node", m.peer.name, "job", m.id.Key.Job, "rank", m.id.Rank, "signal", sig, "error", err)
		}
	}
	m.sending = false
}

func ends(sig syscall.Signal) bool { return sig == syscall.SIGTERM || sig == syscall.SIGKILL }

func isDone(err error) bool { return errors.Is(err, os.ErrProcessDone) }

// detach leaves a process alone, if it can be.
func detach(proc exec.Launched) {
	if d, ok := proc.(exec.Detacher); ok {
		d.Detach()
	}
}
