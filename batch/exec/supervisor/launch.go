package supervisor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/seed-9b8f70bb/drover/batch/exec/attempt"
	"github.com/seed-9b8f70bb/drover/batch/exec/process"
	"github.com/seed-9b8f70bb/drover/batch/exec/supervisor/journal"
)

// Spawn runs an attempt at most once, however often it is called.
func (s *supervisor) Spawn(ctx context.Context, a attempt.Name, spec attempt.Spec) (attempt.Status, error) {
	spec.Env = append(slices.Clip(spec.Env), process.Mark+"="+a.Mark())
	for {
		status, err := s.settle(ctx, a, func(t *program) (attempt.Status, error) { return s.run(t, spec) })
		// Unclaimed is the answer to somebody who attached at the same time.
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
		// An attempt that runs or has ended needs no lease for being told of.
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
		return attempt.Status{}, err
	case err != nil:
		s.log.Error("attempt not claimed", "attempt", t.Mark(), "error", err)
		return attempt.Status{Condition: attempt.NeverRan, Reason: "claim: " + plain(err), Ended: time.Now()}, nil
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
		s.log.Error("process not written down, its gate stays shut", "attempt", t.Mark(), "error", err)
		never := attempt.Status{Condition: attempt.NeverRan, Reason: "run record: " + plain(err), Ended: time.Now()}
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
	s.log.Debug("started", "attempt", t.Mark(), "pid", g.Pid)
	return attempt.Status{Condition: attempt.Running, Pid: g.Pid, Started: now}, nil
}

// passing are errors that another attempt need not meet.
var passing = []error{
	syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.EDQUOT, syscall.EINTR,
	process.ErrShut, attempt.ErrNoLease, process.ErrGroup,
}

// notRun is the end of an attempt whose program was not executed.
func (s *supervisor) notRun(t *program, started time.Time, err error) attempt.Status {
	s.log.Debug("not started", "attempt", t.Mark(), "error", err)
	st := attempt.Status{Condition: attempt.Failed, Reason: err.Error(), Started: started, Ended: time.Now()}
	if slices.ContainsFunc(passing, func(p error) bool { return errors.Is(err, p) }) {
		st.Condition = attempt.NeverRan
	}
	s.save(t, st)
	return st
}

// plain is an error's text without paths.
func plain(err error) string {
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
