package pool

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch"
	"github.com/seed-9b8f70bb/drover/batch/exec"
)

// Attempt is an attempt with all its members.
type Attempt struct {
	pool    *Pool
	how     batch.Launch
	members []*member // by rank
	done    chan struct{}

	mu       sync.Mutex
	left     int  // members that have not ended
	launched bool // the state of all members is known: the next end can be the last
	stopped  bool
	failing  bool // one has failed, and the others are being ended
	first    *member
	term     bool // it was asked to end
	kill     *time.Timer
	closed   bool
	exit     exec.Exit
}

var (
	_ exec.Launched = (*Attempt)(nil)
	_ exec.Detacher = (*Attempt)(nil)
	_ exec.Sharer   = (*Attempt)(nil)
)

func newProcess(pool *Pool, key batch.Key, how batch.Launch, parts []part) *Attempt {
	p := &Attempt{pool: pool, how: how, done: make(chan struct{}), left: len(parts)}
	for rank, part := range parts {
		p.members = append(p.members, &member{of: p, id: ID{key, int32(rank)}, peer: part.peer})
	}
	return p
}

// Wait returns when all members have ended.
func (p *Attempt) Wait() exec.Exit {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Signal sends a signal to all members. It logs failed deliveries.
func (p *Attempt) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return os.ErrProcessDone
	}
	p.term = p.term || ends(sig)
	p.signal(sig)
	return nil
}

// signal queues a signal for all members that have not ended. The caller holds mu.
func (p *Attempt) signal(sig syscall.Signal) {
	switch sig {
	case syscall.SIGSTOP:
		p.stopped = true
	case syscall.SIGCONT:
		p.stopped = false
	}
	for _, m := range p.members {
		if !m.over {
			m.queue = append(m.queue, sig)
			m.deliver()
		}
	}
}

// errElsewhere means that the allocation would require a move to another node.
var errElsewhere = errors.New("the allocation is on other nodes than the attempt")

// SetShares sets the shares of all members as soon as their nodes accept them.
func (p *Attempt) SetShares(allocation []batch.NodeAllocation) error {
	parts, err := p.pool.split(p.how, allocation)
	if err != nil {
		return err
	}
	if len(parts) != len(p.members) {
		return errElsewhere
	}
	for rank, part := range parts {
		if part.peer != p.members[rank].peer {
			return errElsewhere
		}
	}
	for rank, part := range parts {
		m := p.members[rank]
		p.mu.Lock()
		over := m.over
		p.mu.Unlock()
		if !over {
			m.peer.give(Shares{m.id, part.allocation})
		}
	}
	return nil
}

// Detach leaves all members running and makes Wait return.
func (p *Attempt) Detach() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.close(exec.Exit{Detached: true})
	var all []*member
	for _, m := range p.members {
		if !m.over {
			m.over, m.queue = true, nil
			all = append(all, m)
		}
	}
	p.mu.Unlock()
	for _, m := range all {
		m.peer.leave(m)
		if m.proc != nil {
			detach(m.proc)
		}
	}
}

// close ends the attempt. The caller holds mu.
func (p *Attempt) close(exit exec.Exit) {
	p.closed, p.exit = true, exit
	if p.kill != nil {
		p.kill.Stop()
	}
	close(p.done)
}

// ended handles the end of a member. The caller holds mu.
func (p *Attempt) ended(m *member) {
	p.left--
	if p.first == nil && failed(m.exit) {
		p.first = m
	}
	p.settle()
}

// settle ends the other members if one has failed, and the attempt if all have ended. The
// caller holds mu.
func (p *Attempt) settle() {
	switch {
	case !p.launched || p.closed:
	case p.left == 0:
		p.close(p.outcome())
	case p.first != nil && !p.failing:
		p.failing = true
		p.signal(syscall.SIGTERM)
		if p.stopped {
			p.signal(syscall.SIGCONT)
		}
		p.kill = time.AfterFunc(p.pool.cfg.Grace, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if !p.closed {
				p.signal(syscall.SIGKILL)
			}
		})
	}
}

// outcome is the exit of the attempt.
func (p *Attempt) outcome() exec.Exit {
	exit, heard := p.members[0].exit, false
	for _, m := range p.members {
		heard = heard || m.reached && !m.exit.Unsignaled
		if m.exit.Code == batch.CheckpointStatus {
			exit = m.exit
		}
	}
	if p.first != nil {
		exit = p.first.exit
		p.first.blame(&exit)
	}
	exit.Unsignaled = p.term && !heard
	return exit
}

// failed reports whether an exit must end the other members.
func failed(exit exec.Exit) bool {
	return exit.Lost || exit.Signal != 0 || exit.Code != 0 && exit.Code != batch.CheckpointStatus
}

// blame adds to the exit of one of several members which one it was.
func (m *member) blame(exit *exec.Exit) {
	if exit.Lost || len(m.of.members) == 1 {
		return
	}
	who := fmt.Sprintf("process %d of %d", m.id.Rank+1, len(m.of.members))
	if m.peer.among() {
		who += " on node " + m.peer.name
	}
	if exit.Reason != "" {
		who += ": "
	}
	exit.Reason = who + exit.Reason
}

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
	reached bool // a signal that ends it may have arrived
}

// runs records the task of a member, and follows it.
func (m *member) runs(proc exec.Launched) {
	m.of.mu.Lock()
	over := m.over
	if !over {
		m.proc = proc
		m.deliver()
	}
	m.of.mu.Unlock()
	if over { // it was given up, or all members are detached
		detach(proc)
	}
	m.of.pool.spawn(func() {
		if exit := proc.Wait(); !exit.Detached {
			m.end(exit)
		}
	})
	if m.of.pool.ctx.Err() != nil { // Close may have missed it
		m.of.Detach()
	}
}

// lose ends a member with an unknown exit.
func (m *member) lose(reason string) {
	m.end(exec.Exit{Lost: true, Reason: reason})
}

// end records the exit; only the first call counts.
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

// deliver sends the queued signals, unless another goroutine does. The caller holds of.mu.
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
		heard := m.reached
		m.reached = heard || ends(sig) // until it is known not to have arrived
		m.of.mu.Unlock()
		err := m.proc.Signal(sig)
		m.of.mu.Lock()
		if isDone(err) {
			m.reached = heard
		} else if err != nil {
			m.of.pool.log.Warn("signal failed", "node", m.peer.name, "job", m.id.Key.Job, "rank", m.id.Rank, "signal",
				sig, "error", err)
		}
	}
	m.sending = false
}

func ends(sig syscall.Signal) bool { return sig == syscall.SIGTERM || sig == syscall.SIGKILL }

func isDone(err error) bool { return errors.Is(err, os.ErrProcessDone) }

// detach stops following a task, if possible.
func detach(proc exec.Launched) {
	if d, ok := proc.(exec.Detacher); ok {
		d.Detach()
	}
}
