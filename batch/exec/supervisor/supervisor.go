package supervisor

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// mostLaunches is how many launches are under way at once: each has some open
// files, and the disk is what they wait for.
const mostLaunches = 64

// supervisor holds the attempts of one site. It lives as long as its process.
type supervisor struct {
	me       journal.Claimer
	gate     []string
	reaper   *process.Reaper
	guard    *process.Guard // of programs on a lease; else nil
	log      hclog.Logger
	launches chan struct{}
	watchers watchers

	mu       sync.Mutex
	attempts map[attempt.Name]*program
	lease    *lease // nil: programs live without; its fields are guarded by mu
	idle     idle   // guarded by mu
}

// program is one that is being settled, runs, or has an end that is not on disk.
type program struct {
	attempt.Name
	settled chan struct{} // closed when the rest is known
	groups  []string      // files cgroup.procs of its control groups; set before settled is closed

	// Guarded by the supervisor's mu.
	status  attempt.Status
	err     error
	pid     int        // of a child, to be signalled through the reaper
	adopted process.ID // of a program that another supervisor has started
	unsaved bool       // its end could not be written yet
	lapsed  bool       // it was killed because the lease had ended
	ends    int        // how often the lease had ended when it was let run
}

// settle answers what became of an attempt: from memory, or what find says, which
// is asked once for all who ask at the same time.
func (s *supervisor) settle(ctx context.Context, a attempt.Name, find func(*program) (attempt.Status, error)) (attempt.Status, error) {
	s.mu.Lock()
	t := s.attempts[a]
	if t == nil {
		t = &program{Name: a, settled: make(chan struct{})}
		s.attempts[a] = t
		s.idle.update(len(s.attempts))
		go s.begin(t, find)
	}
	s.mu.Unlock()
	select {
	case <-t.settled:
	case <-ctx.Done():
		return attempt.Status{}, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.status, t.err
}

func (s *supervisor) begin(t *program, find func(*program) (attempt.Status, error)) {
	status, err := find(t)
	s.mu.Lock()
	t.status, t.err = status, err
	close(t.settled)
	s.forget(t)
	s.mu.Unlock()
}

// forget lets go of an attempt whose file says all. The caller holds mu.
func (s *supervisor) forget(t *program) {
	if t.status.Condition == attempt.Running || t.unsaved {
		return
	}
	delete(s.attempts, t.Name)
	s.idle.update(len(s.attempts))
}

// Attach says what became of an attempt, and watches it from now on if it runs.
func (s *supervisor) Attach(ctx context.Context, a attempt.Name) (attempt.Status, error) {
	return s.settle(ctx, a, func(t *program) (attempt.Status, error) {
		state, err := journal.Read(t.Dir, t.File())
		if err != nil {
			return attempt.Status{}, err
		}
		return s.found(t, state)
	})
}

// Signal sends sig to all processes of an attempt. It returns os.ErrProcessDone
// when the program has ended, and errUnknown for what does not run here.
func (s *supervisor) Signal(a attempt.Name, sig syscall.Signal) error {
	groups, err := s.signalGroup(a, sig)
	if sig == syscall.SIGKILL {
		process.StrikeGroups(groups) // those too that have left the process group
	}
	return err
}

func (s *supervisor) signalGroup(a attempt.Name, sig syscall.Signal) (groups []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.attempts[a]
	switch {
	case t == nil || t.status.Condition == 0:
		return nil, attempt.ErrUnknown
	case t.status.Condition != attempt.Running:
		return nil, os.ErrProcessDone
	case t.pid != 0:
		return t.groups, s.reaper.Signal(t.pid, sig)
	}
	// Not our child, so that its number could become another's between the two
	// calls: numbers are given out in turn, all others before the same again.
	alive, err := t.adopted.Alive()
	if err != nil {
		return nil, err
	}
	if !alive {
		return nil, os.ErrProcessDone
	}
	return t.groups, syscall.Kill(-t.adopted.Pid, sig)
}

// found judges what a file says of an attempt that is not in memory: its
// supervisor is gone, or is this one and had no more to say.
func (s *supervisor) found(t *program, state journal.State) (attempt.Status, error) {
	switch {
	case state.Claimer.Kind == "":
		return attempt.Status{Condition: attempt.Unclaimed}, nil
	case state.Claimer.Kind == journal.Server:
		return attempt.Status{Condition: attempt.Barred, Ended: state.Claimed}, nil
	case state.End.Kind != 0:
		return statusOf(state), nil
	case state.Run.Pid == 0:
		return attempt.Status{Condition: attempt.NeverRan, Reason: "its supervisor ended before it was started", Ended: state.Claimed}, nil
	}
	lost := attempt.Status{Condition: attempt.Lost, Started: state.Started}
	again, err := state.Run.Rebooted()
	if err != nil {
		return attempt.Status{}, err
	}
	if again {
		lost.Reason = "the host was restarted"
		return s.lose(t, lost), nil
	}
	alive, err := state.Run.Alive()
	if err != nil {
		return attempt.Status{}, err
	}
	if alive && s.lease != nil {
		// It was to die with its supervisor.
		s.warnLeft(t, state.Run.KillRest())
		lost.Reason = "its supervisor had ended before it"
		return s.lose(t, lost), nil
	}
	if alive {
		s.mu.Lock()
		t.adopted = state.Run
		s.mu.Unlock()
		s.log.Info("watching a program that another supervisor has started", "attempt", t.Mark(), "pid", state.Run.Pid)
		go s.follow(t, state.Run)
		return attempt.Status{Condition: attempt.Running, Pid: state.Run.Pid, Started: state.Started}, nil
	}
	left, err := state.Run.KillMarked(t.Mark())
	if err != nil {
		return attempt.Status{}, err
	}
	s.warnLeft(t, left)
	lost.Reason = "it ended while no supervisor was there"
	return s.lose(t, lost), nil
}

func (s *supervisor) lose(t *program, lost attempt.Status) attempt.Status {
	lost.Ended = time.Now()
	s.save(t, lost)
	return lost
}

// follow waits for the end of a program that is not a child.
func (s *supervisor) follow(t *program, id process.ID) {
	if err := id.Await(context.Background()); err != nil {
		s.log.Warn("cannot wait for a program, looking every second", "attempt", t.Mark(), "error", err)
		for alive := true; alive; alive, _ = id.Alive() {
			time.Sleep(time.Second)
		}
	}
	s.warnLeft(t, id.KillRest())
	<-t.settled
	s.mu.Lock()
	lost := attempt.Status{Condition: attempt.Lost, Started: t.status.Started, Ended: time.Now(), Reason: "its supervisor had ended before it"}
	s.mu.Unlock()
	s.end(t, lost)
}

func (s *supervisor) warnLeft(t *program, left bool) {
	if left {
		s.log.Error("killed process group does not disappear, telling its end all the same", "attempt", t.Mark(), "waited", process.GoneWait)
	}
}

// newClaimer names this life of a supervisor.
func newClaimer(pid int, now time.Time) journal.Claimer {
	return journal.Claimer{Kind: journal.Supervisor, By: fmt.Sprintf("%d-%d", pid, now.UnixMicro())}
}

// Watch begins to collect the ends of attempts.
func (s *supervisor) Watch() rpc.Watch { return s.watchers.add() }
