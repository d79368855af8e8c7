package remote

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/node"
)

// Task is a task of a node.
type Task struct {
	node  *Node
	id    node.ID
	ended chan struct{}

	mu       sync.Mutex
	follow   bool // launched, or possibly: the node is queried after a silence
	doubtful bool // whether it was ever launched is unknown
	over     bool
	exit     exec.Exit
	started  time.Time
	use      cgroup.Use
	stopped  bool             // by the last of SIGSTOP and SIGCONT
	signals  []syscall.Signal // not delivered yet, in order
	ending   bool             // it was asked to end
	reached  bool             // the request to end may have arrived

	// Guarded by the node's sharing.
	shared bool       // cpu was set
	cpu    cgroup.CPU // by SetShares
}

// ID names its task.
func (p *Task) ID() node.ID { return p.id }

// Started returns when its process was started, by the node's clock; zero while that is
// unknown.
func (p *Task) Started() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Wait returns when the node has reported the end of the task, or it is detached.
func (p *Task) Wait() exec.Exit {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Detach leaves the task running and makes Wait return, see exec.Detacher.
func (p *Task) Detach() { p.finish(exec.Exit{Detached: true}) }

// Use returns the last measurement.
func (p *Task) Use() cgroup.Use {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.use
}

// Share limits the processor time of the task; 0 is no limit.
func (p *Task) Share(ctx context.Context, cpu cgroup.CPU) error {
	return p.node.SetShares(ctx, []node.Share{{ID: p.id, CPU: cpu}})
}

// Signal sends sig to all processes of the task, see node.Task.Signal. It takes a network
// round trip. If the node does not answer, the signal is stored until it does, and Signal
// returns nil.
func (p *Task) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return os.ErrProcessDone
	}
	switch sig {
	case syscall.SIGSTOP:
		p.stopped = true
	case syscall.SIGCONT:
		p.stopped = false
	}
	p.ending = p.ending || ends(sig)
	o, watched := p.node.sequence()
	if len(p.signals) > 0 || p.doubtful || !watched {
		p.signals = append(p.signals, sig) // the next watch begins with it
		return nil
	}
	ctx, cancel := context.WithTimeout(p.node.ctx, callPatience)
	defer cancel()
	err := p.send(ctx, sig, o)
	if errors.Is(err, node.ErrSilent) || errors.Is(err, node.ErrUnreachable) {
		p.signals = append(p.signals, sig)
		p.node.drop() // which starts the next watch
		return nil
	}
	return err
}

// send sends a signal, and records whether it may have arrived. The caller holds mu.
func (p *Task) send(ctx context.Context, sig syscall.Signal, o node.Sequence) error {
	err := p.node.client.Signal(ctx, p.id, sig, o)
	if ends(sig) && !errors.Is(err, node.ErrUnreachable) && !errors.Is(err, os.ErrProcessDone) {
		p.reached = true
	}
	return err
}

func ends(sig syscall.Signal) bool { return sig == syscall.SIGTERM || sig == syscall.SIGKILL }

// deliver sends the stored signals, or repeats its pause.
func (p *Task) deliver(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.signals) == 0 && p.stopped {
		p.signals = append(p.signals, syscall.SIGSTOP)
	}
	for len(p.signals) > 0 && !p.over {
		o, ok := p.node.sequence()
		if !ok {
			return node.ErrSilent
		}
		err := p.send(ctx, p.signals[0], o)
		if errors.Is(err, node.ErrSilent) || errors.Is(err, node.ErrUnreachable) {
			return err
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			p.node.log.Warn("signal failed", "task", p.id, "signal", p.signals[0], "error", err)
		}
		p.signals = p.signals[1:]
	}
	return nil
}

// markDoubtful makes the node, when it answers, be queried for whether the task was launched.
func (p *Task) markDoubtful() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.follow, p.doubtful = true, true
}

// follows reports whether the node must be queried about it.
func (p *Task) follows() (is, doubtful bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.follow && !p.over, p.doubtful
}

// known handles the answer to a launch or an attach.
func (p *Task) known(st attempt.Status) {
	p.mu.Lock()
	p.follow, p.doubtful = true, false
	p.started = st.Started
	p.mu.Unlock()
	p.take(st)
}

// take handles a status that can be an end.
func (p *Task) take(st attempt.Status) {
	switch st.Condition {
	case attempt.Running:
	case attempt.Exited:
		p.finish(exec.Exit{Code: st.Code, Reason: st.Reason})
	case attempt.Signaled:
		p.finish(exec.Exit{Signal: st.Signal, Reason: st.Reason})
	case attempt.Lost:
		p.finish(exec.Exit{Lost: true, Reason: st.Reason})
	case attempt.Unclaimed, attempt.Barred, attempt.NeverRan:
		p.finish(exec.Exit{Lost: true, Reason: "the node did not receive the launch in time"})
	default:
		p.finish(exec.Exit{Lost: true, Reason: "its attempt file now says " + st.Condition.String()})
	}
}

// finish ends it; only the first call counts.
func (p *Task) finish(exit exec.Exit) {
	p.mu.Lock()
	first := !p.over
	if first {
		exit.Unsignaled = p.ending && !p.reached
		p.over, p.exit, p.signals = true, exit, nil
	}
	p.mu.Unlock()
	if first {
		p.node.unfollow(p)
		close(p.ended)
	}
}

func (p *Task) measured(u cgroup.Use) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.use = u
}

// watched records whether a watch is open, and its number.
func (n *Node) watched(is bool, watch uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watches, n.last = is, node.Sequence{Watch: watch}
}

// sequence returns the next sequence; ok is false while no watch is open.
func (n *Node) sequence() (o node.Sequence, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watches && n.last.Watch != 0 {
		n.last.Number++
	}
	return n.last, n.watches
}

// SetShares sets the shares of several tasks, except those that have ended. While the node is
// out of reach they are stored, and sent when it answers.
func (n *Node) SetShares(ctx context.Context, all []node.Share) error {
	o, ok := n.share(all)
	if !ok {
		return nil // the next watch begins with them
	}
	err := n.client.SetShares(ctx, all, o)
	if errors.Is(err, node.ErrSilent) || errors.Is(err, node.ErrUnreachable) {
		n.drop() // which starts a new one
	}
	return err
}

// share stores shares, and returns their sequence.
func (n *Node) share(all []node.Share) (node.Sequence, bool) {
	n.sharing.Lock()
	defer n.sharing.Unlock()
	n.mu.Lock()
	for _, s := range all {
		if p := n.processes[s.ID]; p != nil {
			p.shared, p.cpu = true, s.CPU
		}
	}
	n.mu.Unlock()
	return n.sequence()
}

// shares returns the stored shares of all tasks, and their sequence.
func (n *Node) shares() (all []node.Share, o node.Sequence) {
	n.sharing.Lock()
	defer n.sharing.Unlock()
	for _, p := range n.following() {
		if p.shared {
			all = append(all, node.Share{ID: p.id, CPU: p.cpu})
		}
	}
	o, _ = n.sequence() // the caller has a watch
	return all, o
}
