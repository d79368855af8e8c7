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

// signalPatience bounds the wait for a supervisor's answer in Signal.
const signalPatience = 2 * time.Second

// Attempt is an attempt that a client follows. It outlives the supervisor: the client asks
// the next one what became of it.
type Attempt struct {
	client  *Client
	attempt attempt.Name
	ended   chan struct{}

	mu      sync.Mutex
	known   bool // spawned, or found running: the next supervisor can be asked
	over    bool
	exit    exec.Exit
	started time.Time
	pid     int
	signals []syscall.Signal // not delivered yet, in order
	ending  bool             // it was told to end
}

// Started returns when the process was started, by the host's clock.
func (p *Attempt) Started() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Pid returns the leader of its process group, 0 if it is not known.
func (p *Attempt) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

// Wait returns when all processes of the program are gone, or the attempt is detached.
func (p *Attempt) Wait() exec.Exit {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Detach leaves the program running and makes Wait return, see exec.Detacher.
func (p *Attempt) Detach() { p.finish(exec.Exit{Detached: true}) }

// Signal sends sig to all processes of the program, and returns os.ErrProcessDone when it has
// ended. Without a supervisor the signal is stored, and delivered in order by the next one.
func (p *Attempt) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return os.ErrProcessDone
	}
	p.ending = p.ending || sig != syscall.SIGSTOP && sig != syscall.SIGCONT
	l := p.client.current()
	if len(p.signals) > 0 || l == nil {
		p.signals = append(p.signals, sig)
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(p.client.ctx, signalPatience, rpc.ErrGone)
	defer cancel()
	err := p.client.remote.Signal(ctx, p.attempt, sig)
	if errors.Is(err, rpc.ErrGone) {
		p.client.log.Warn("signal stored for the next supervisor", "job", p.attempt.Key.Job, "error", err)
		p.signals = append(p.signals, sig)
		l.drop() // in any case, the next connection begins with the stored signals
		return nil
	}
	return err
}

// deliver sends the stored signals.
func (p *Attempt) deliver(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.signals) > 0 && !p.over {
		err := p.client.remote.Signal(ctx, p.attempt, p.signals[0])
		if errors.Is(err, rpc.ErrGone) || ctx.Err() != nil {
			return err
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			p.client.log.Warn("signal failed", "job", p.attempt.Key.Job, "error", err)
		}
		p.signals = p.signals[1:]
	}
	return nil
}

// attached handles the answer to Spawn or Attach.
func (p *Attempt) attached(st attempt.Status) {
	p.mu.Lock()
	p.known = true
	p.started, p.pid = st.Started, st.Pid
	p.mu.Unlock()
	p.take(st)
}

// take handles a status that can be an end.
func (p *Attempt) take(st attempt.Status) {
	switch st.Condition {
	case attempt.Running:
	case attempt.Exited:
		p.finish(exec.Exit{Code: st.Code, Unsignaled: st.Unsignaled})
	case attempt.Signaled:
		p.finish(exec.Exit{Signal: st.Signal, Unsignaled: st.Unsignaled})
	case attempt.Lost:
		p.finish(exec.Exit{Lost: true, Reason: st.Reason})
	default:
		// Its file no longer says that it ran.
		p.finish(exec.Exit{Lost: true, Reason: "its attempt file now says " + st.Condition.String()})
	}
}

// lose ends it with an error in place of a status.
func (p *Attempt) lose(err error) {
	p.client.log.Error("attempt lost", "attempt", p.attempt.Mark(), "error", err)
	p.finish(exec.Exit{Lost: true, Reason: "its attempt file cannot be read"})
}

// finish ends it; only the first call counts.
func (p *Attempt) finish(exit exec.Exit) {
	p.mu.Lock()
	first := !p.over
	if first {
		exit.Unsignaled = exit.Unsignaled && p.ending
		p.over, p.exit, p.signals = true, exit, nil
	}
	p.mu.Unlock()
	if first {
		p.client.unfollow(p)
		close(p.ended)
	}
}

// isKnown reports whether the next supervisor can be asked about it.
func (p *Attempt) isKnown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}
