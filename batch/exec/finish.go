package exec

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed-9b8f70bb/drover/batch"
)

// end begins to end an attempt that runs or is paused: as kind, for why. The
// first order counts.
func (s *System) end(now batch.Time, a *attempt, kind batch.End, why string) {
	if a.ending != 0 {
		return
	}
	a.ending, a.why = kind, why
	s.timers.set(a, batch.Never)
	if a.proc != nil {
		s.signalEnd(now, a)
	}
}

// signalEnd asks the group to end. An attempt that has ended by itself keeps
// its own outcome.
func (s *System) signalEnd(now batch.Time, a *attempt) {
	if !s.signal(a, syscall.SIGTERM) {
		a.ending, a.why = 0, ""
		return
	}
	if a.phase == batch.PhasePaused {
		s.signal(a, syscall.SIGCONT)
	}
	s.timers.set(a, now.Add(s.grace))
}

// signal sends sig, and returns false when the attempt has already ended by
// itself.
func (s *System) signal(a *attempt, sig syscall.Signal) bool {
	err := a.proc.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return false
	}
	if err != nil {
		s.log.Warn("signal not delivered", "job", a.key.Job, "signal", unix.SignalName(sig), "error", err)
	}
	return true
}

// finish deals with an attempt whose processes are gone, or never were.
func (s *System) finish(now batch.Time, n *note) {
	a := n.attempt
	s.active--
	s.alloc.Release(a.places)
	if n.err != nil {
		a.outcome = batch.Outcome{End: batch.EndStartFailed, Reason: n.err.Error()}
		s.log.Warn("job could not be started", "job", a.key.Job, "error", n.err)
	} else {
		a.outcome = outcome(a, n.exit)
	}
	// A command that is missing now is missing the next time too: the policy is
	// told the job is over, not to try it again with StartFailed.
	s.apply(now, batch.Event{Kind: batch.Finish, Job: a.job.Handle})
	s.over(now, a)
}

// over puts a into its last phase and lets go of what is not needed any more.
func (s *System) over(now batch.Time, a *attempt) {
	a.phase, a.ended = batch.PhaseEnded, now
	s.timers.set(a, batch.Never)
	if h := a.job.Handle; h != batch.NoJob {
		s.handles[h] = nil
		s.unused = append(s.unused, h)
	}
	a.job, a.run, a.places, a.proc = nil, batch.Program{}, nil, nil
	s.changes.touch(a)
	if old := s.changes.retire(a, s.retain); old != nil {
		delete(s.attempts, old.key)
	}
}

func outcome(a *attempt, exit Exit) batch.Outcome {
	out := batch.Outcome{End: batch.EndDone, ExitCode: exit.Code}
	if exit.Signal != 0 {
		out = batch.Outcome{End: batch.EndFailed, Signal: unix.SignalName(exit.Signal)}
		out.Reason = "signal " + out.Signal
	} else if exit.Code != 0 {
		out.End, out.Reason = batch.EndFailed, "exit status "+strconv.Itoa(exit.Code)
	}
	if a.ending != 0 {
		out.End, out.Reason = a.ending, a.why
	}
	return out
}
