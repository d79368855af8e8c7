package supervisor

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// signalPatience is how long Signal waits for a supervisor's answer.
const signalPatience = 2 * time.Second

// Attempt is a program that a supervisor runs. It outlives the supervisor: the
// next one is asked what became of it.
type Attempt struct {
	client  *Client
	attempt attempt.Name
	ended   chan struct{}

	mu      sync.Mutex
	known   bool // launched, or found running: the next supervisor can be asked
	over    bool
	exit    exec.Exit
	started time.Time
	pid     int
	signals []syscall.Signal // not delivered yet, in order
}

// Started returns when the process was made, by the host's clock.
func (p *Attempt) Started() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Pid returns the first process of its group, 0 if that is not known.
func (p *Attempt) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

// Wait returns when nothing of the program is left, or it is detached.
func (p *Attempt) Wait() exec.Exit {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Detach leaves the program running and makes Wait return, see exec.Detacher.
func (p *Attempt) Detach() { p.finish(exec.Exit{Detached: true}) }

// Signal sends sig to all processes of the program, and returns
// os.ErrProcessDone when it has ended. While there is no supervisor signals are
// kept, and delivered in order by the next one.
func (p *Attempt) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return os.ErrProcessDone
	}
	l := p.client.current()
	if len(p.signals) > 0 || l == nil {
		p.signals = append(p.signals, sig)
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(p.client.ctx, signalPatience, rpc.ErrGone)
	defer cancel()
	err := p.client.remote.Signal(ctx, p.attempt, sig)
	if errors.Is(err, rpc.ErrGone) {
		p.client.log.Warn("signal kept for the next supervisor", "job", p.attempt.Key.Job, "error", err)
		p.signals = append(p.signals, sig)
		l.drop() // whatever it is, the next connection begins with what was kept
		return nil
	}
	return err
}

// deliver sends the signals that were kept.
func (p *Attempt) deliver(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.signals) > 0 && !p.over {
		err := p.client.remote.Signal(ctx, p.attempt, p.signals[0])
		if errors.Is(err, rpc.ErrGone) || ctx.Err() != nil {
			return err
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			p.client.log.Warn("signal not delivered", "job", p.attempt.Key.Job, "error", err)
		}
		p.signals = p.signals[1:]
	}
	return nil
}

// attached takes the answer to a launch or an attach.
func (p *Attempt) attached(st attempt.Status) {
	p.mu.Lock()
	p.known = true
	p.started, p.pid = st.Started, st.Pid
	p.mu.Unlock()
	p.take(st)
}

// take takes a status that may be an end.
func (p *Attempt) take(st attempt.Status) {
	switch st.Condition {
	case attempt.Running:
	case attempt.Exited:
		p.finish(exec.Exit{Code: st.Code})
	case attempt.Signaled:
		p.finish(exec.Exit{Signal: st.Signal})
	case attempt.Lost:
		p.finish(exec.Exit{Lost: true, Reason: st.Reason})
	default:
		// Its file said that it ran, and does not any more.
		p.finish(exec.Exit{Lost: true, Reason: "its attempt file says " + st.Condition.String() + " now"})
	}
}

// lose ends it with an error that came instead of a status.
func (p *Attempt) lose(err error) {
	p.client.log.Error("what became of an attempt cannot be known", "attempt", p.attempt.Mark(), "error", err)
	p.finish(exec.Exit{Lost: true, Reason: "its attempt file cannot be read"})
}

// finish ends it, the first time.
func (p *Attempt) finish(exit exec.Exit) {
	p.mu.Lock()
	first := !p.over
	if first {
		p.over, p.exit, p.signals = true, exit, nil
	}
	p.mu.Unlock()
	if first {
		p.client.unfollow(p)
		close(p.ended)
	}
}

// isKnown reports whether the next supervisor is to be asked about it.
func (p *Attempt) isKnown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}
