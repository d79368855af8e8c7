package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec"
	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/cgroup"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor"
)

// freezePatience is how long Signal waits until all of a task has stopped. Who is
// slower, in a call to a dead file server for example, stops later.
const freezePatience = 50 * time.Millisecond

// Task is a task that runs, or has run.
type Task struct {
	id      ID
	program *supervisor.Attempt
	group   *cgroup.Group // nil: it runs without
	ended   chan struct{}

	mu     sync.Mutex
	exit   exec.Exit
	pinned bool // to cpus, by SetCPUs
	cpus   []int
}

// ID names its task.
func (p *Task) ID() ID { return p.id }

// Started returns when its process was made, by the host's clock.
func (p *Task) Started() time.Time { return p.program.Started() }

// Pid returns the first process of the task, 0 if that is not known.
func (p *Task) Pid() int { return p.program.Pid() }

// Wait returns when nothing of the task is left, or it is detached.
func (p *Task) Wait() exec.Exit {
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Detach leaves the task running and makes Wait return, see exec.Detacher.
func (p *Task) Detach() { p.program.Detach() }

func (p *Task) finish(exit exec.Exit) {
	p.mu.Lock()
	p.exit = exit
	p.mu.Unlock()
	close(p.ended)
}

// over reports whether it has ended.
func (p *Task) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Signal sends sig to all processes of the task. SIGSTOP and SIGCONT freeze and thaw
// it, so that no program can tell or refuse; a frozen one takes other signals when it
// goes on, but for SIGKILL. It returns os.ErrProcessDone when it has ended.
func (p *Task) Signal(sig syscall.Signal) error {
	if p.over() {
		return os.ErrProcessDone
	}
	switch {
	case p.group == nil:
	case sig == syscall.SIGSTOP:
		ctx, cancel := context.WithTimeout(context.Background(), freezePatience)
		defer cancel()
		err := p.group.Freeze(ctx)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		return p.gone(err)
	case sig == syscall.SIGCONT:
		return p.gone(p.group.Thaw())
	case sig == syscall.SIGKILL:
		// The supervisor kills all of it; thawed here, it dies where the freezer would
		// hold it up and another process thaws nothing.
		if err := p.program.Signal(sig); err != nil {
			return err
		}
		if err := p.group.Thaw(); !errors.Is(err, cgroup.ErrVanished) {
			return err
		}
		return nil // it has died of it already, or nothing holds it up any more
	}
	return p.program.Signal(sig)
}

// gone is an error of its group, which is removed when it has ended: then it says that
// it has. Else a controller has vanished under a task that runs.
func (p *Task) gone(err error) error {
	if errors.Is(err, cgroup.ErrVanished) {
		if ended := p.program.Signal(0); errors.Is(ended, os.ErrProcessDone) {
			return ended
		}
	}
	return err
}

// Share holds the task to an amount of processors and returns what it really gets;
// 0 is no limit.
func (p *Task) Share(cpu cgroup.CPU) (cgroup.CPU, error) {
	if cpu < 0 {
		return 0, &InvalidError{fmt.Errorf("cpu: %d, accepted: 0 or more", cpu)}
	}
	if p.group == nil {
		return 0, cgroup.ErrNotOffered
	}
	got, err := p.group.SetShare(share(cpu))
	return got, p.gone(err)
}

// Use measures the task.
func (p *Task) Use() (cgroup.Use, error) {
	if p.group == nil {
		return cgroup.Use{}, cgroup.ErrNotOffered
	}
	u, err := p.group.Use()
	return u, p.gone(err)
}

// statusOf is the end of a task as a status; of one that is detached nothing is known.
func statusOf(e exec.Exit, started time.Time) attempt.Status {
	if e.Detached {
		return attempt.Status{}
	}
	st := attempt.Status{Condition: attempt.Exited, Code: e.Code, Reason: e.Reason, Started: started, Ended: time.Now()}
	switch {
	case e.Lost:
		st.Condition, st.Code = attempt.Lost, 0
	case e.Signal != 0:
		st.Condition, st.Code, st.Signal = attempt.Signaled, 0, e.Signal
	}
	return st
}

// Status says what became of it, so far. It is zero when the task is detached.
func (p *Task) Status() attempt.Status {
	if p.over() {
		return statusOf(p.Wait(), p.Started())
	}
	return attempt.Status{Condition: attempt.Running, Started: p.Started(), Pid: p.Pid()}
}
