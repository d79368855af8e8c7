package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/hashicorp/go-hclog"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/rpc"
)

// mostLaunches bounds concurrent spawns: each has several open files, and waits for the disk.
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
	lease    *lease // nil: programs have no lease; its fields are guarded by mu
	idle     idle   // guarded by mu
}

// program is an attempt that is being settled, runs, or has an end that is not on disk.
type program struct {
	attempt.Name
	settled chan struct{} // closed when the other fields are set
	groups  []string      // cgroup.procs files of its control groups; set before settled is closed

	// Guarded by the supervisor's mu.
	status     attempt.Status
	err        error
	pid        int        // of a child, to be signaled through the reaper
	adopted    process.ID // of a program that another supervisor has started
	struck     bool       // a signal to end reached it
	unsaved    bool       // its end could not be written yet
	leaseEnded bool       // it was killed because the lease had ended
	ends       int        // the number of ended leases when it was started
}

// settle returns what became of an attempt: from memory, or by one call of find that
// concurrent callers share.
func (s *supervisor) settle(
	ctx context.Context, a attempt.Name, find func(*program) (attempt.Status, error),
) (attempt.Status, error) {
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

// forget drops an attempt with a complete file. The caller holds mu.
func (s *supervisor) forget(t *program) {
	if t.status.Condition == attempt.Running || t.unsaved {
		return
	}
	delete(s.attempts, t.Name)
	s.idle.update(len(s.attempts))
}

// Attach returns what became of an attempt, and watches it if it runs.
func (s *supervisor) Attach(ctx context.Context, a attempt.Name) (attempt.Status, error) {
	return s.settle(ctx, a, func(t *program) (attempt.Status, error) {
		state, err := journal.Read(t.Dir, t.File())
		if damaged, ok := errors.AsType[*journal.DamagedError](err); ok {
			return s.abandon(t, damaged)
		}
		if err != nil {
			return attempt.Status{}, err
		}
		return s.found(t, state)
	})
}

// abandon ends an attempt whose file is damaged. Nothing says whether and as which process it runs,
// so all processes that carry its mark are killed before it is reported as lost: another attempt
// must not run beside them.
func (s *supervisor) abandon(t *program, damaged *journal.DamagedError) (attempt.Status, error) {
	left, err := process.KillAllMarked(t.Mark())
	if err != nil {
		return attempt.Status{}, errors.Join(damaged, err)
	}
	s.warnLeft(t, left)
	s.log.Error("attempt file damaged, attempt lost", "attempt", t.Mark(), "error", damaged)
	return attempt.Status{Condition: attempt.Lost, Reason: "its record is damaged", Ended: time.Now()}, nil
}

// Signal sends sig to all processes of an attempt. It returns os.ErrProcessDone when the
// program has ended, and attempt.ErrUnknown for one that does not run here.
func (s *supervisor) Signal(a attempt.Name, sig syscall.Signal) error {
	groups, err := s.signalGroup(a, sig)
	if sig == syscall.SIGKILL {
		process.StrikeGroups(groups) // including processes that have left the process group
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
		err := s.reaper.Signal(t.pid, sig)
		t.struck = t.struck || err == nil && sig != syscall.SIGSTOP && sig != syscall.SIGCONT
		return t.groups, err
	}
	// It is not a child, so its number could be reused between the two calls; but numbers are
	// assigned in turn, all others before the same again.
	alive, err := t.adopted.Alive()
	if err != nil {
		return nil, err
	}
	if !alive {
		return nil, os.ErrProcessDone
	}
	return t.groups, syscall.Kill(-t.adopted.Pid, sig)
}

// found interprets the file of an attempt that is not in memory: its supervisor is gone, or
// is this one and has finished with it.
func (s *supervisor) found(t *program, state journal.State) (attempt.Status, error) {
	switch {
	case state.Claimer.Kind == "":
		return attempt.Status{Condition: attempt.Unclaimed}, nil
	case state.Claimer.Kind == journal.Server:
		return attempt.Status{Condition: attempt.Barred, Ended: state.Claimed}, nil
	case state.End.Kind != 0:
		return statusOf(state), nil
	case state.Run.Pid == 0:
		return attempt.Status{
			Condition: attempt.NeverRan, Reason: "its supervisor ended before the program started",
			Ended: state.Claimed,
		}, nil
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
		// It should have died with its supervisor.
		s.warnLeft(t, state.Run.KillRest())
		lost.Reason = "its supervisor ended first"
		return s.lose(t, lost), nil
	}
	if alive {
		s.mu.Lock()
		t.adopted = state.Run
		s.mu.Unlock()
		s.log.Info("adopted a program of another supervisor", "attempt", t.Mark(), "pid", state.Run.Pid)
		go s.follow(t, state.Run)
		return attempt.Status{Condition: attempt.Running, Pid: state.Run.Pid, Started: state.Started}, nil
	}
	left, err := state.Run.KillMarked(t.Mark())
	if err != nil {
		return attempt.Status{}, err
	}
	s.warnLeft(t, left)
	lost.Reason = "it ended while no supervisor was running"
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
		s.log.Warn("watch process failed, polling every second", "attempt", t.Mark(), "error", err)
		for alive := true; alive; alive, _ = id.Alive() {
			time.Sleep(time.Second)
		}
	}
	s.warnLeft(t, id.KillRest())
	<-t.settled
	s.mu.Lock()
	lost := attempt.Status{
		Condition: attempt.Lost, Started: t.status.Started, Ended: time.Now(), Reason: "its supervisor ended first",
	}
	s.mu.Unlock()
	s.end(t, lost)
}

func (s *supervisor) warnLeft(t *program, left bool) {
	if left {
		s.log.Error("killed process group still exists, reporting its end", "attempt", t.Mark(), "waited",
			process.GoneWait)
	}
}

// newClaimer returns the claimer of this supervisor process.
func newClaimer(pid int, now time.Time) journal.Claimer {
	return journal.Claimer{Kind: journal.Supervisor, By: fmt.Sprintf("%d-%d", pid, now.UnixMicro())}
}

// Watch begins to collect the ends of attempts.
func (s *supervisor) Watch() rpc.Watch { return s.watchers.add() }

// Spawn runs an attempt at most once, however often it is called.
func (s *supervisor) Spawn(ctx context.Context, a attempt.Name, spec attempt.Spec) (attempt.Status, error) {
	spec.Env = append(slices.Clip(spec.Env), process.Mark+"="+a.Mark())
	for {
		status, err := s.settle(ctx, a, func(t *program) (attempt.Status, error) { return s.run(t, spec) })
		// Unclaimed is the answer to a concurrent Attach.
		if err != nil || status.Condition != attempt.Unclaimed {
			return status, err
		}
	}
}

// run takes an attempt through its steps until the program is executed.
func (s *supervisor) run(t *program, spec attempt.Spec) (attempt.Status, error) {
	s.launches <- struct{}{}
	defer func() { <-s.launches }()
	t.groups = spec.Groups
	if !s.covered(spec.Token) {
		// A query for an attempt that runs or has ended needs no lease.
		state, err := journal.Read(t.Dir, t.File())
		if err == nil && state.Claimer.Kind == "" {
			err = attempt.ErrNoLease
		}
		if err != nil {
			return attempt.Status{}, err
		}
		return s.found(t, state)
	}
	won, state, err := journal.Claim(t.Dir, t.File(), s.me, time.Now())
	var damaged *journal.DamagedError
	switch {
	case errors.As(err, &damaged):
		return s.abandon(t, damaged)
	case err != nil:
		s.log.Error("claim failed", "attempt", t.Mark(), "error", err)
		return attempt.Status{Condition: attempt.NeverRan, Reason: "claim: " + publicMessage(err), Ended: time.Now()},
			nil
	case !won:
		return s.found(t, state)
	}
	g, err := s.reaper.Start(s.gate, spec.Spec, func(e process.Exit) { s.ended(t, e) })
	if err != nil {
		return s.notRun(t, time.Time{}, err), nil
	}
	now := time.Now()
	id, err := process.Identify(g.Pid)
	if err == nil {
		err = journal.AppendRun(t.Dir, t.File(), id, now)
	}
	if err != nil {
		g.Shut()
		s.log.Error("write run record failed, its gate stays shut", "attempt", t.Mark(), "error", err)
		never := attempt.Status{
			Condition: attempt.NeverRan, Reason: "run record: " + publicMessage(err), Ended: time.Now(),
		}
		s.save(t, never)
		return never, nil
	}
	if err := s.enter(t, g.Pid, spec.Token); err != nil {
		g.Shut()
		return s.notRun(t, now, err), nil
	}
	if err := g.Open(); err != nil {
		return s.notRun(t, now, err), nil
	}
	s.running(t, g.Pid)
	s.log.Debug("attempt started", "attempt", t.Mark(), "pid", g.Pid)
	return attempt.Status{Condition: attempt.Running, Pid: g.Pid, Started: now}, nil
}

// passing are errors that another attempt may not have.
var passing = []error{
	syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.EDQUOT, syscall.EINTR,
	syscall.EIO,
	process.ErrShut, attempt.ErrNoLease, process.ErrGroup,
}

// notRun is the end of an attempt without an executed program.
func (s *supervisor) notRun(t *program, started time.Time, err error) attempt.Status {
	s.log.Debug("spawn failed", "attempt", t.Mark(), "error", err)
	st := attempt.Status{
		Condition: attempt.Failed, Code: int(process.ErrorNumber(err)), Reason: err.Error(), Started: started,
		Ended: time.Now(),
	}
	if slices.ContainsFunc(passing, func(p error) bool { return errors.Is(err, p) }) {
		st.Condition, st.Code = attempt.NeverRan, 0
	}
	s.save(t, st)
	return st
}

// publicMessage returns an error's text without paths.
func publicMessage(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}

// The pauses between tries to write an end down.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = 5 * time.Second
)

// ended handles the end of a child, which may have been only a gate.
func (s *supervisor) ended(t *program, e process.Exit) {
	now := time.Now()
	<-t.settled
	if s.guard != nil && len(t.groups) > 0 {
		defer s.guard.Drop(t.groups)
	}
	s.mu.Lock()
	before, struck := t.status, t.struck
	s.mu.Unlock()
	if before.Condition != attempt.Running {
		return // run has already reported that nothing ran
	}
	s.warnLeft(t, process.ClearGroups(t.groups) || e.Left)
	st := statusOfExit(e, before.Started, now)
	st.Unsignaled = !struck
	s.end(t, s.verdict(t, st))
}

// end writes the end of an attempt that ran, and reports it.
func (s *supervisor) end(t *program, st attempt.Status) {
	s.log.Debug("attempt ended", "attempt", t.Mark(), "condition", st.Condition, "code", st.Code, "signal", st.Signal)
	s.save(t, st)
	s.mu.Lock()
	t.status = st
	s.forget(t)
	s.mu.Unlock()
	s.watchers.notify(attempt.End{Name: t.Name, Status: st})
}

// save writes an end. If that fails, it is retried until it succeeds, and the attempt is kept
// that long.
func (s *supervisor) save(t *program, st attempt.Status) {
	end := endOf(st)
	err := journal.AppendEnd(t.Dir, t.File(), end)
	if err == nil {
		return
	}
	s.log.Error("write end of attempt failed, retrying", "attempt", t.Mark(), "error", err)
	s.mu.Lock()
	t.unsaved = true
	s.mu.Unlock()
	go s.saveAgain(t, end)
}

func (s *supervisor) saveAgain(t *program, end journal.End) {
	pauses := &backoff.ExponentialBackOff{InitialInterval: firstPause, Multiplier: 2, MaxInterval: longestPause}
	for {
		time.Sleep(pauses.NextBackOff())
		if gone(t.Dir) {
			s.log.Warn("attempt directory is gone, its end is dropped", "attempt", t.Mark())
			break
		}
		err := journal.AppendEnd(t.Dir, t.File(), end)
		if damaged, ok := errors.AsType[*journal.DamagedError](err); ok {
			s.log.Error("attempt file damaged, its end is dropped", "attempt", t.Mark(), "error", damaged)
			break
		}
		if err == nil {
			break
		}
	}
	<-t.settled
	s.mu.Lock()
	t.unsaved = false
	s.forget(t)
	s.mu.Unlock()
}
