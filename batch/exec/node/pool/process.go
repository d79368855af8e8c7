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

// Attempt is an attempt: all of its members.
type Attempt struct {
	pool    *Pool
	how     batch.Launch
	members []*member // by rank
	done    chan struct{}

	mu       sync.Mutex
	left     int  // members that have not ended
	launched bool // all members are known by now: an end may be the last one
	stopped  bool
	failing  bool // one has failed, and the others are being ended
	first    *member
	term     bool // it was told to end
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

// Signal has a signal sent to all members. That it was not delivered is logged.
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

// signal queues a signal for all that have not ended. The caller holds mu.
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

// errElsewhere says that allocation cannot be had by moving nothing.
var errElsewhere = errors.New("these allocation are not on the nodes where it runs")

// SetShares has the shares of all members set, as soon as their nodes take them.
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

// close ends it. The caller holds mu.
func (p *Attempt) close(exit exec.Exit) {
	p.closed, p.exit = true, exit
	if p.kill != nil {
		p.kill.Stop()
	}
	close(p.done)
}

// ended takes the end of a member. The caller holds mu.
func (p *Attempt) ended(m *member) {
	p.left--
	if p.first == nil && failed(m.exit) {
		p.first = m
	}
	p.settle()
}

// settle ends the others if one has failed, and itself if all have ended. The caller
// holds mu.
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

// outcome is how the attempt has ended.
func (p *Attempt) outcome() exec.Exit {
	exit, heard := p.members[0].exit, false
	for _, m := range p.members {
		heard = heard || m.heard && !m.exit.Unheard
		if m.exit.Code == batch.CheckpointStatus {
			exit = m.exit
		}
	}
	if p.first != nil {
		exit = p.first.exit
		p.first.blame(&exit)
	}
	exit.Unheard = p.term && !heard
	return exit
}

// failed says whether the others cannot go on after an end.
func failed(exit exec.Exit) bool {
	return exit.Lost || exit.Signal != 0 || exit.Code != 0 && exit.Code != batch.CheckpointStatus
}

// blame adds to the end of one of several members which one it was.
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
